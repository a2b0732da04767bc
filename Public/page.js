// Shared parts of the pages: session ids, the connections' state in the bar, commands to copy.

import { clearPassingErrors } from "./errors.js";

/** The element with this id. */
export const the = (id) => document.getElementById(id);

/** True if a text can be the id of a session. */
export function isSessionID(text) {
  return /^[A-Za-z0-9_-]{1,128}$/.test(text);
}

/** An id that cannot be guessed. It also works on insecure origins, which have no `crypto.randomUUID`. */
export function freshID() {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => letters[byte % letters.length]).join("");
}

/**
 * Shows the state of the streams in the bar, with a button that skips the wait, and shows their events on the wire. If
 * there are several streams, the bar shows the one in the worst state.
 *
 * @param {import("./panels.js").Wire} wire
 * @param {(import("./rivulet.js").Session | import("./rivulet.js").Store | import("./rivulet.js").Value)[]} streams
 */
export function follow(wire, ...streams) {
  the("reconnect").onclick = () => streams.filter(({ connection }) => connection.state !== "live").forEach((one) => one.reconnect());
  for (const stream of streams) {
    stream.onEvent((event) => wire.add(event));
    stream.onConnection(() => {
      const [worst] = streams.map(({ connection }) => connection).sort((a, b) => badness(b) - badness(a));
      showConnection(worst, wire);
    });
  }
}

function badness({ state }) {
  return ["live", "connecting", "reconnecting", "paused", "closed"].indexOf(state);
}

/** @type {ReturnType<typeof setInterval> | undefined} */
let countdown;

/**
 * @param {import("./rivulet.js").Connection} connection
 * @param {import("./panels.js").Wire} wire
 */
function showConnection(connection, wire) {
  const { state, retryAt, reason } = connection;
  const previous = the("connection").dataset.state;
  the("connection").dataset.state = state;
  the("reconnect").hidden = state === "live" || state === "connecting";
  clearInterval(countdown);
  if (retryAt !== null) countdown = setInterval(() => (the("connection-text").textContent = connectionText(connection)), 500);
  the("connection-text").textContent = connectionText(connection);
  the("connection").title = reason === null ? "" : `The last stream ended: ${reason}`;
  if (state === previous) return;
  the("connection-news").textContent = { live: "Connected", closed: "Disconnected" }[state] ?? "Reconnecting";
  if (state === "live") clearPassingErrors();
  if (state === "live") wire.note(previous === "reconnecting" ? "open again" : "open");
  else if (previous === "live") wire.note(reason === null ? "lost" : `ended: ${reason}`);
}

function connectionText({ state, retryAt, reason }) {
  const seconds = Math.ceil(((retryAt ?? 0) - Date.now()) / 1000);
  switch (state) {
    case "live": return "Live";
    case "connecting": return "Connecting";
    case "reconnecting": return seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting";
    case "paused": return "Paused";
    case "closed": return reason === null || reason === "client" ? "Closed" : `Closed: ${reason}`;
  }
}

/** Makes every button with `data-copy` copy the text of the element that it names. */
export function enableCopying() {
  document.querySelectorAll("[data-copy]").forEach((button) => {
    button.addEventListener("click", async () => {
      const command = the(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(command.textContent);
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      } catch {
        // The clipboard requires a secure origin. On other origins the command is selected, so that the user can copy
        // it.
        getSelection()?.selectAllChildren(command);
      }
    });
  });
}
