// The settings that all pages of the notes share: the theme, a switch, and a token that is written and never read.

import { attempt } from "./errors.js";
import { the } from "./page.js";
import { followValue, request, sending } from "./rivulet.js";

const app = "notes";
const tokenURL = `/v1/apps/${app}/secrets/apiToken`;

/**
 * The theme of everybody. A browser's own system decides how the page looks there, until its visitor chooses the theme of everybody
 * here: then the page follows that one.
 */
export const theme = followValue({ app, value: "theme", shared: true });
/** A switch. It is read when the page is seen, not followed: a browser has six connections to a server for all its pages. */
const haptics = followValue({ app, value: "hapticsEnabled" });
/** The tag of the switch's value as it is shown. */
let hapticsTag = "";
/** The colours of the browser's own bars, by its system, as the page came with them. */
const barColours = [...document.querySelectorAll('meta[name="theme-color"]')].map((meta) => [meta, meta.content]);

/** Makes the settings show what is stored, and store what is set. */
export function enableSettings() {
  showTheme();
  theme.observe(() => {
    if (followed.name !== null) followed.name = theme.value;
    showTheme();
    the("theme").disabled = false;
  });
  the("theme").addEventListener("change", chooseTheme);
  // Other tabs of this browser have the same choice.
  addEventListener("storage", showTheme);
  the("haptics").addEventListener("change", toggleHaptics);
  the("token-form").addEventListener("submit", setToken);
  the("token-remove").addEventListener("click", removeToken);
  document.addEventListener("visibilitychange", () => document.hidden || readSettings());
  addEventListener("focus", readSettings);
  readSettings();
}

/** The theme of everybody as this browser saw it last; its name is null while this browser follows its system. */
const followed = {
  key: "rivulet.notes.theme",
  /** What a browser that keeps nothing has chosen is good for this page. */
  unkept: null,

  get name() {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return this.unkept;
    }
  },

  set name(name) {
    this.unkept = name;
    try {
      if (name === null) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, name);
    } catch {
      // As above.
    }
  },
};

function showTheme() {
  const { name } = followed;
  if (name === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const radio = document.querySelector(`#theme [value="${CSS.escape(name ?? "system")}"]`);
  // Another theme than these may be set from elsewhere: then none of them is the one.
  document.querySelectorAll("#theme input").forEach((one) => (one.checked = one === radio));
  const { backgroundColor } = getComputedStyle(document.body);
  barColours.forEach(([meta, colour]) => (meta.content = name === null ? colour : backgroundColor));
}

/** Follows the system again, or sets the theme of everybody and follows that. */
async function chooseTheme({ target: { value } }) {
  const before = followed.name;
  // Written before the request: what the stream brings from now on is newer, even where it comes before the answer.
  followed.name = value === "system" ? null : value;
  showTheme();
  if (value === "system") return;
  const { error } = await attempt(the("theme"), () => theme.set(value));
  if (error === null) return;
  followed.name = before === null ? null : theme.value;
  showTheme();
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
  const { outcome } = await attempt(the("haptics"), () => haptics.toggle(hapticsTag).catch((error) => {
    if (error.status === 412) return { value: error.problem.value, tag: error.tag };
    throw error;
  }));
  if (outcome === undefined) the("haptics").checked = !wanted;
  else showHaptics(outcome);
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
  return attempt(the("token"), async () => {
    await request(tokenURL, sending("PUT", text));
    the("token").value = "";
    await readToken();
  });
}

function removeToken() {
  return attempt(the("token"), async () => {
    await request(tokenURL, { method: "DELETE" });
    await readToken();
  });
}
