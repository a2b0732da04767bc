# A tab of the browser with one of the demo pages.

import datetime
import re
import time

from playwright.sync_api import expect


class Tab:
    """A tab with a page. Every complaint of the browser is recorded."""

    def __init__(self, context, address):
        self.faults = []
        self.page = context.new_page()
        self.page.on("console", lambda entry: self.faults.append(entry.text) if entry.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(address)
        self.live()

    def live(self):
        self.page.wait_for_selector('#connection[data-state="live"]')
        expect(self.page.locator("#wire .name").filter(has_text=re.compile("snapshot|change|reset")).first).to_be_attached()

    def until(self, expression):
        """Waits until the expression is true. playwright's own wait evaluates text within the page, which the page's policy forbids."""
        end = time.monotonic() + 30
        while not self.page.evaluate(expression):
            assert time.monotonic() < end, f"it never came true: {expression}"
            self.page.wait_for_timeout(20)

    def text(self, selector, value):
        expect(self.page.locator(selector)).to_contain_text(value)

    def stop_the_clock(self):
        """Stops the page's clock. Timers only fire if `pass_time` advances it."""
        self.page.clock.install()
        self.page.clock.pause_at(datetime.datetime.now() + datetime.timedelta(hours=1))

    def pass_time(self, seconds):
        """Advances the page's clock. If the page then tries to reconnect, waits for the end of that attempt."""
        self.page.clock.run_for(round(seconds * 1000))
        self.until("document.getElementById('connection-text').textContent !== 'Reconnecting'")

    def dispatched(self, selector):
        """Clicks, and waits for the server's answer."""
        with self.page.expect_response("**/events") as answer:
            self.page.click(selector)
        return answer.value
