// The settings that all pages of the notes share: the theme, a switch, and a token that is written and never read.

import { attempt } from "./errors.js";
import { the } from "./page.js";
import { followValue, request, sending } from "./rivulet.js";

const app = "notes";
const tokenURL = `/v1/apps/${app}/secrets/apiToken`;

/**
 * The theme shared by all visitors. By default, a browser's own system determines its theme. After a visitor chooses
 * the shared theme in a browser, that browser's pages follow it.
 */
export const theme = followValue({ app, value: "theme", shared: true });
/**
 * A switch. The page reads it when the user sees the page, and opens no stream for it. A browser has six connections to
 * a server for all its pages.
 */
const haptics = followValue({ app, value: "hapticsEnabled" });
/** The tag of the shown value of the switch. */
let hapticsTag = "";
/** The original colours of the browser's own bars, which follow its system. */
const barColours = [...document.querySelectorAll('meta[name="theme-color"]')].map((meta) => [meta, meta.content]);

/** Makes the settings show the stored values, and store the chosen ones. */
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

/** The shared theme as this browser saw it last. Its name is null while this browser follows its system. */
const followed = {
  key: "rivulet.notes.theme",
  /** The choice of a browser without storage, which is only valid for this page. */
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
      // The same fallback applies.
    }
  },
};

function showTheme() {
  const { name } = followed;
  if (name === null) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  const radio = document.querySelector(`#theme [value="${CSS.escape(name ?? "system")}"]`);
  // Another client may set a different theme. Then no button is checked.
  document.querySelectorAll("#theme input").forEach((one) => (one.checked = one === radio));
  const { backgroundColor } = getComputedStyle(document.body);
  barColours.forEach(([meta, colour]) => (meta.content = name === null ? colour : backgroundColor));
}

/** Follows the system again, or sets the shared theme and follows it. */
async function chooseTheme({ target: { value } }) {
  const before = followed.name;
  // The choice is stored before the request. A later event of the stream is newer, even if it comes before the answer.
  followed.name = value === "system" ? null : value;
  showTheme();
  if (value === "system") return;
  const { error } = await attempt(the("theme"), () => theme.set(value));
  if (error === null) return;
  followed.name = before === null ? null : theme.value;
  showTheme();
}

async function readSettings() {
  // Failed reads are repeated when the user sees the page next. The bar shows that the server is unavailable.
  await Promise.all([haptics.read().then(showHaptics), readToken()]).catch(() => {});
}

function showHaptics({ value, tag }) {
  hapticsTag = tag;
  the("haptics").checked = value;
  the("haptics").disabled = false;
}

/** Toggles the shown value. If another client has toggled it in the meantime, its value is already the intended one. */
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
