// The demo page: shows one session of the `counter` app as its stream updates it, and turns clicks into events.

import { clearError, showError } from "./errors.js";
import { connect } from "./rivulet.js";
import { enableCopying, follow, freshID, isSessionID, the } from "./page.js";
import { Gauge, History, KeyPaths, Wire } from "./panels.js";

const paths = [
  "/p/count", "/p/step", "/p/title", "/p/limits/warnAt", "/p/limits/label", "/p/history", "/t/lastEvent", "/t/warning",
];

const gauge = new Gauge(the("gauge"));
const history = new History(the("history"), the("history-values"));
const keyPaths = new KeyPaths(the("paths"), paths);
const wire = new Wire(the("wire"), the("wire-total"));

/** @type {import("./rivulet.js").Session | undefined} */
let session;
/** The fields that hold typed text. The stream does not change them. */
const edited = new Set();
/** The number of the last dispatch that was sent. Answers to earlier ones are outdated. */
let dispatches = 0;

/** Shows the session that the address names. Without a name, opens a new session with a fresh id. */
function open() {
  const id = location.hash.slice(1);
  if (!isSessionID(id)) {
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
  follow(wire, opened);
}

/** Shows the current values of the session. */
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
  // A screen reader reads an alert when its text changes. So a presented warning replaces its paragraph, and the quiet
  // hint is silent.
  the("warning-text").parentElement.role = warning === null ? "none" : "alert";
  if (the("warning-text").textContent !== text) the("warning-text").textContent = text;
  if (warning === null && document.activeElement === the("dismiss")) the("increment").focus();
  the("dismiss").hidden = warning === null;
}

function showSession(id, { url }) {
  the("session-id").textContent = id;
  the("twin").href = `#${id}`;
  the("raw").href = `${url}/state`;
  the("todos-link").href = `todos.html?session=${id}`;
  the("command-increment").textContent = `curl --json '"increment"' ${location.origin}${url}/events`;
  the("command-watch").textContent = `curl -N '${location.origin}${url}/changes?path=/p/count'`;
}

/**
 * Sends an event, and shows the outcome below the counter. A refusal is shown beside the control.
 *
 * @param {import("./rivulet.js").Json} event
 * @param {Element} control the control that was used
 * @returns {Promise<Error | null>} the error of a refusal
 */
async function dispatch(event, control) {
  const name = typeof event === "string" ? event : Object.keys(event)[0];
  const number = ++dispatches;
  clearError(control);
  try {
    const answer = await session.dispatch(event);
    if (number === dispatches) tell(describe(name, answer));
    return null;
  } catch (error) {
    if (number === dispatches) tell("");
    showError(control, error);
    return error;
  }
}

function describe(name, { version, durable, changes, coerced = [] }) {
  const parts = [name, `version ${version}`];
  parts.push(changes.length === 0 ? "nothing changed" : durable ? "on disk" : "transient");
  parts.push(...coerced.map(({ path, from, to }) => `${path} held at ${JSON.stringify(to)}, not ${JSON.stringify(from)}`));
  return parts.join(" · ");
}

function tell(text) {
  the("answer").textContent = text;
}

/** Puts a streamed value into a field, unless a user is editing it. */
function fill(id, value) {
  if (!edited.has(id) && the(id).value !== String(value)) the(id).value = String(value);
}

/**
 * Makes a form send an event. A refusal is shown beside its fields, and they keep the typed text.
 *
 * @param {string} id
 * @param {string[]} fields the ids of its fields
 * @param {(...texts: string[]) => any} event
 */
function onSubmit(id, fields, event) {
  // A missing answer says nothing about the typed text.
  const mark = (error) => fields.forEach((field) => the(field).setAttribute("aria-invalid", String((error?.status ?? 0) > 0)));
  for (const field of fields) {
    the(field).addEventListener("input", () => {
      edited.add(field);
      mark(null);
      clearError(the(field));
    });
  }
  the(id).addEventListener("submit", async (submit) => {
    submit.preventDefault();
    const error = await dispatch(event(...fields.map((field) => the(field).value)), the(id));
    mark(error);
    if (error !== null) return the(fields[0]).focus();
    for (const field of fields) {
      edited.delete(field);
      if ("once" in the(field).dataset) the(field).value = "";
    }
  });
}

/** A typed whole number. Other text goes to the server unchanged, and the server's answer names the error. */
function integer(text) {
  return /^\s*[-+]?\d+\s*$/.test(text) ? Number(text) : text;
}

document.querySelectorAll("[data-event]").forEach((button) => {
  button.addEventListener("click", () => dispatch(button.dataset.event, button));
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
  await dispatch({ setStep: Number(the("step").value) }, the("step"));
  edited.delete("step");
  fill("step", session.value("/p/step") ?? 1);
});

// A reset affects all users of the session, so the page asks first.
the("reset").addEventListener("click", () => the("reset-dialog").showModal());
the("reset-dialog").addEventListener("close", () => the("reset").focus());
the("reset-cancel").addEventListener("click", () => the("reset-dialog").close());
the("reset-confirm").addEventListener("click", () => {
  the("reset-dialog").close();
  dispatch("reset", the("reset"));
});

the("fresh").addEventListener("click", (click) => {
  click.preventDefault();
  location.hash = freshID();
});
enableCopying();
window.addEventListener("hashchange", open);
open();
