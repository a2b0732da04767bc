// Part of Rivulet. See README.md for the architecture.
// The demo page: shows one session of the `counter` app as it streams in, and turns what is clicked into events.

import { connect } from "./rivulet.js";
import { Gauge, History, KeyPaths, Wire } from "./panels.js";

const paths = [
  "/p/count", "/p/step", "/p/title", "/p/limits/warnAt", "/p/limits/label", "/p/history", "/t/lastEvent", "/t/warning",
];

/** The element with this id. */
const the = (id) => document.getElementById(id);

const gauge = new Gauge(the("gauge"));
const history = new History(the("history"), the("history-values"));
const keyPaths = new KeyPaths(the("paths"), paths);
const wire = new Wire(the("wire"), the("wire-total"));

/** @type {import("./rivulet.js").Session | undefined} */
let session;
/** The fields that hold what somebody is typing: the stream leaves them alone. */
const edited = new Set();
/** The last dispatch that was sent; answers of earlier ones are old news. */
let dispatches = 0;

/** Shows the session that the address names; without one, a new one with a fresh id. */
function open() {
  const id = location.hash.slice(1);
  if (!/^[A-Za-z0-9_-]{1,128}$/.test(id)) {
    window.history.replaceState(null, "", `#${freshID()}`);
    return open();
  }
  session?.close();
  keyPaths.clear();
  wire.clear();
  edited.clear();
  const opened = connect({ app: "counter", session: id });
  session = opened;
  showSession(id, opened);
  opened.observe(paths, show);
  opened.onEvent((event) => wire.add(event));
  opened.onConnection(showConnection);
}

/** Shows the values of the session as they are now. */
function show(values, { version }) {
  const count = values["/p/count"] ?? 0;
  const step = values["/p/step"] ?? 1;
  const title = values["/p/title"] ?? "";
  const warnAt = values["/p/limits/warnAt"] ?? 100;
  const label = values["/p/limits/label"] ?? "";

  gauge.show(count, warnAt);
  history.show(values["/p/history"] ?? [], warnAt);
  keyPaths.show(values);
  showWarning(values["/t/warning"] ?? null, warnAt, label);
  the("title").textContent = title;
  document.title = `${count} · ${title}`;
  the("last-event").textContent = values["/t/lastEvent"] ?? "none";
  the("version").textContent = `version ${version}`;
  document.querySelectorAll("[data-step]").forEach((element) => (element.textContent = String(step)));
  fill("step", step);
  the("step-value").textContent = the("step").value;
  fill("title-input", title);
  fill("warn-at", warnAt);
  fill("limit-label", label);
}

function showWarning(warning, warnAt, label) {
  const text = warning === null ? `Warns at ${warnAt}: ${label}` : warning.text;
  the("warning").dataset.presented = String(warning !== null);
  // An alert is read out when its text changes, so a presented warning replaces its paragraph and the quiet hint is silent.
  the("warning-text").parentElement.role = warning === null ? "none" : "alert";
  if (the("warning-text").textContent !== text) the("warning-text").textContent = text;
  if (warning === null && document.activeElement === the("dismiss")) the("increment").focus();
  the("dismiss").hidden = warning === null;
}

function showSession(id, { url }) {
  the("session-id").textContent = id;
  the("twin").href = `#${id}`;
  the("raw").href = `${url}/state`;
  the("command-increment").textContent = `curl --json '"increment"' ${location.origin}${url}/events`;
  the("command-watch").textContent = `curl -N '${location.origin}${url}/changes?path=/p/count'`;
}

/** @type {ReturnType<typeof setInterval> | undefined} */
let countdown;

/** @param {import("./rivulet.js").Connection} connection */
function showConnection(connection) {
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

/**
 * Sends an event, and tells below the counter what came of it.
 *
 * @param {import("./rivulet.js").Json} event
 * @param {boolean} tellsRefusal false: the caller shows a refusal at its own place
 * @returns {Promise<Error | null>} what it was refused with
 */
async function dispatch(event, tellsRefusal = true) {
  const name = typeof event === "string" ? event : Object.keys(event)[0];
  const number = ++dispatches;
  try {
    const answer = await session.dispatch(event);
    if (number === dispatches) tell(describe(name, answer));
    return null;
  } catch (error) {
    if (number === dispatches) tell(tellsRefusal ? `${name}: ${error.message}` : "", true);
    return error;
  }
}

function describe(name, { version, durable, changes, coerced = [] }) {
  const parts = [name, `version ${version}`];
  parts.push(changes.length === 0 ? "nothing changed" : durable ? "on disk" : "transient");
  parts.push(...coerced.map(({ path, from, to }) => `${path} held at ${JSON.stringify(to)}, not ${JSON.stringify(from)}`));
  return parts.join(" · ");
}

function tell(text, failed = false) {
  the("answer").textContent = text;
  the("answer").dataset.failed = String(failed);
}

/** Puts a streamed value into a field, unless somebody is at work there. */
function fill(id, value) {
  if (!edited.has(id) && the(id).value !== String(value)) the(id).value = String(value);
}

/**
 * Makes a form send an event; a refusal is shown beside its fields, and they keep what was typed.
 *
 * @param {string} id
 * @param {string[]} fields the ids of its fields
 * @param {(...texts: string[]) => any} event
 */
function onSubmit(id, fields, event) {
  const problem = the(id).querySelector(".error");
  const showProblem = (text) => {
    if (problem !== null) problem.textContent = text;
    fields.forEach((field) => the(field).setAttribute("aria-invalid", String(text !== "")));
  };
  for (const field of fields) {
    the(field).addEventListener("input", () => {
      edited.add(field);
      showProblem("");
    });
  }
  the(id).addEventListener("submit", async (submit) => {
    submit.preventDefault();
    const error = await dispatch(event(...fields.map((field) => the(field).value)), problem === null);
    showProblem(error?.message ?? "");
    if (error !== null) return the(fields[0]).focus();
    for (const field of fields) {
      edited.delete(field);
      if ("once" in the(field).dataset) the(field).value = "";
    }
  });
}

/** A whole number as typed; what is not one goes to the server as text, whose answer says what is wrong with it. */
function integer(text) {
  return /^\s*[-+]?\d+\s*$/.test(text) ? Number(text) : text;
}

function freshID() {
  const letters = "abcdefghijkmnpqrstuvwxyz23456789";
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => letters[byte % letters.length]).join("");
}

document.querySelectorAll("[data-event]").forEach((button) => {
  button.addEventListener("click", () => dispatch(button.dataset.event));
});
onSubmit("title-form", ["title-input"], (title) => ({ rename: title }));
onSubmit("limits-form", ["warn-at", "limit-label"], (warnAt, label) => ({ setLimits: { warnAt: integer(warnAt), label } }));
onSubmit("note-form", ["note"], (note) => ({ setNote: note === "" ? null : note }));
onSubmit("set-form", ["set"], (count) => ({ setCount: integer(count) }));

the("step").addEventListener("input", () => {
  edited.add("step");
  the("step-value").textContent = the("step").value;
});
the("step").addEventListener("change", async () => {
  await dispatch({ setStep: Number(the("step").value) });
  edited.delete("step");
  fill("step", session.value("/p/step") ?? 1);
});

the("reconnect").addEventListener("click", () => session.reconnect());
the("fresh").addEventListener("click", (click) => {
  click.preventDefault();
  location.hash = freshID();
});
document.querySelectorAll("[data-copy]").forEach((button) => {
  button.addEventListener("click", async () => {
    const command = the(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    } catch {
      // The clipboard belongs to secure origins: elsewhere the command is selected, ready to be copied by hand.
      getSelection()?.selectAllChildren(command);
    }
  });
});
window.addEventListener("hashchange", open);
open();
