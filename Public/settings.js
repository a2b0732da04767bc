// Part of Rivulet. See README.md for the architecture.
// The settings that all pages of the notes share: the theme, a switch, and a token that is written and never read.

import { the } from "./page.js";
import { followValue, request, sending } from "./rivulet.js";

const app = "notes";
const tokenURL = `/v1/apps/${app}/secrets/apiToken`;

/** The theme, which every open page follows. */
export const theme = followValue({ app, value: "theme", shared: true });
/** A switch. It is read when the page is seen, not followed: a browser has six connections to a server for all its pages. */
const haptics = followValue({ app, value: "hapticsEnabled" });
/** The tag of the switch's value as it is shown. */
let hapticsTag = "";

/** Makes the settings show what is stored, and store what is set. */
export function enableSettings() {
  theme.observe(showTheme);
  the("theme").addEventListener("change", (event) => guarded(() => theme.set(event.target.value), () => showTheme(theme.value)));
  the("haptics").addEventListener("change", toggleHaptics);
  the("token-form").addEventListener("submit", setToken);
  the("token-remove").addEventListener("click", removeToken);
  document.addEventListener("visibilitychange", () => document.hidden || readSettings());
  addEventListener("focus", readSettings);
  readSettings();
}

function showTheme(name) {
  document.documentElement.dataset.theme = name;
  const radio = document.querySelector(`#theme [value="${CSS.escape(name)}"]`);
  // Another theme than these two may be set from elsewhere: then neither is the one.
  document.querySelectorAll("#theme input").forEach((one) => (one.checked = one === radio));
  the("theme").disabled = false;
  const { backgroundColor } = getComputedStyle(document.body);
  document.querySelectorAll('meta[name="theme-color"]').forEach((meta) => (meta.content = backgroundColor));
}

async function readSettings() {
  // What cannot be read now is read when the page is seen next; the bar tells that the server is away.
  await Promise.all([haptics.read().then(showHaptics), readToken()]).catch(() => {});
}

function showHaptics({ value, tag }) {
  hapticsTag = tag;
  the("haptics").checked = value;
  the("haptics").disabled = false;
}

/** Toggles what is shown: where it was toggled elsewhere meanwhile, that is what was wanted. */
async function toggleHaptics() {
  const wanted = the("haptics").checked;
  try {
    showHaptics(await haptics.toggle(hapticsTag));
    tell("");
  } catch (error) {
    the("haptics").checked = !wanted;
    if (error.status === 412) showHaptics({ value: error.problem.value, tag: error.tag });
    else tell(error.message);
  }
}

async function readToken() {
  const response = await request(tokenURL, { cache: "no-store" });
  const { set, readable = true } = await response.json();
  the("token-state").textContent = !set ? "is not set" : readable ? "is set" : "is set, and cannot be unsealed with this server's keys";
  the("token-state").dataset.set = String(set);
  if (!set && document.activeElement === the("token-remove")) the("token").focus();
  the("token-remove").disabled = !set;
}

function setToken(submit) {
  submit.preventDefault();
  const text = the("token").value;
  if (text === "") return the("token").focus();
  return guarded(async () => {
    await request(tokenURL, sending("PUT", text));
    the("token").value = "";
    await readToken();
  });
}

function removeToken() {
  return guarded(async () => {
    await request(tokenURL, { method: "DELETE" });
    await readToken();
  });
}

/** Does something; a refusal is told, and taken back. */
async function guarded(action, takeBack = () => {}) {
  try {
    await action();
    tell("");
  } catch (error) {
    tell(error.message);
    takeBack();
  }
}

function tell(text) {
  the("settings-error").textContent = text;
}
