// The notes' page: the notes of all visitors as their stream updates them, and the drafts of the browser's own session.

import { attempt } from "./errors.js";
import { NoteList, headline } from "./note-list.js";
import { enableCopying, follow, freshID, the } from "./page.js";
import { Wire } from "./panels.js";
import { connect, equal, followStore, followValue } from "./rivulet.js";
import { enableSettings, theme } from "./settings.js";

/** @typedef {import("./note-list.js").Note} Note */

/** The number of notes that are remembered as opened last. */
const recentMax = 5;

const app = "notes";
const notes = followStore({ app, store: "notes", shared: true });
const recent = followValue({ app, value: "recent" });
const session = connect({ app, session: "me", shared: true });
const list = new NoteList(the("notes"), { note: the("note"), editor: the("editor") }, { open, remove, begin, save });
/** The id of the draft in the field at the top. */
let writing = freshID();
/** @type {string[]} The ids of the notes that were opened last. The value's tag is beside them. */
let recentIDs = [];
let recentTag = "";
/** @type {Note | null} The note that was deleted here last, until it is restored. */
let removed = null;

// Display.

/** Shows the current notes. */
function show() {
  const count = notes.items.length;
  const more = list.show(notes.items, selected());
  the("count").textContent = count === 1 ? "1 note" : `${count} notes`;
  document.title = `${count} · Notes`;
  the("rest").hidden = count > 0 && more === 0;
  the("rest").textContent = more > 0 ? `${more} more are not shown.` : "No notes yet. Publish the first one above.";
  showRecent();
}

/** Announces the changes of other users to screen readers. A new list is not announced note by note. */
function hear({ event, items }) {
  const verb = { insert: "Published or changed", remove: "Deleted" }[event];
  if (verb === undefined) return;
  the("heard").textContent = items.length === 1 ? `${verb}: ${headline(items[0])}` : `${verb}: ${items.length} notes`;
}

function showDrafts() {
  const focus = the("drafts").contains(document.activeElement);
  the("drafts").replaceChildren(...drafts().map((draft) => {
    const item = the("draft").content.firstElementChild.cloneNode(true);
    item.dataset.id = draft.id;
    item.querySelector(".text").textContent = headline(draft);
    for (const [name, verb] of [[".continue", "Continue"], [".publish", "Publish"], [".discard", "Discard"]]) {
      item.querySelector(name).ariaLabel = `${verb}: ${headline(draft)}`;
    }
    return item;
  }));
  the("drafts-rest").hidden = drafts().length > 0;
  if (focus) (the("drafts").querySelector("button") ?? the("drafts-heading")).focus();
}

function showRecent() {
  const known = recentIDs.map((id) => notes.item(id)).filter((note) => note !== undefined);
  the("recent").replaceChildren(...known.map((note) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet small" });
    button.dataset.id = note.id;
    button.textContent = headline(note);
    return button;
  }));
  if (known.length === 0) the("recent").append(Object.assign(document.createElement("p"), { className: "hint", textContent: "Nothing yet." }));
}

function drafts() {
  return session.value("/p/drafts") ?? [];
}

function selected() {
  return session.value("/p/selected") ?? null;
}

/** Shows the outcome above the list. `undo` offers to undo it. */
function tell(text, { undo = false } = {}) {
  the("news").textContent = text;
  the("undo").hidden = !undo;
}

/** Performs an action that may be refused. A refusal is shown beside the control. Returns true if it was performed. */
async function does(control, action) {
  const { error } = await attempt(control, action);
  return error === null;
}

/** The row of a note, which shows its errors. For a note that is not shown, the field above shows them. */
function rowOf(id) {
  return list.item(id) ?? the("text");
}

// Drafts.

/** Empties the field at the top and sends its text. A refused text returns to the field. */
async function send(makeEvents, news) {
  const [id, text] = [writing, the("text").value.trim()];
  if (text === "") return the("text").focus();
  writing = freshID();
  the("text").value = "";
  the("text").focus();
  if (await does(the("text"), () => session.dispatch(makeEvents({ id, text })))) return tell(news);
  if (the("text").value !== "") return;
  writing = id;
  the("text").value = text;
}

function publish(submit) {
  submit?.preventDefault();
  return send(({ id, text }) => [{ saveDraft: { id, text } }, { publish: id }], "Published.");
}

function keep() {
  return send(({ id, text }) => ({ saveDraft: { id, text } }), "Kept as a draft.");
}

async function clickDraft({ target }) {
  const button = target.closest("button");
  const draft = drafts().find(({ id }) => id === button?.closest("li").dataset.id);
  if (button === null || draft === undefined) return;
  if (button.matches(".publish")) {
    if (await does(button, () => session.dispatch({ publish: draft.id }))) tell(`Published “${headline(draft)}”.`);
  } else if (button.matches(".discard")) {
    if (await does(button, () => session.dispatch({ discardDraft: draft.id }))) tell(`Discarded “${headline(draft)}”.`);
  } else {
    if (writing !== draft.id) await keep();
    if (the("text").value !== "") return;
    writing = draft.id;
    the("text").value = draft.text;
    the("text").focus();
  }
}

// Notes.

/** Opens or closes a note in all tabs of this browser. The list of the last opened notes is shared by all visitors. */
async function open(id) {
  const isOpened = selected() !== id;
  if (!(await does(rowOf(id), () => session.dispatch({ select: isOpened ? id : null }))) || !isOpened) return;
  const wanted = (ids) => [id, ...ids.filter((one) => one !== id)].slice(0, recentMax);
  await does(rowOf(id), async () => {
    const set = recent.set(wanted(recentIDs), recentTag).catch((error) => {
      // Another visitor opened a note in the meantime. This note comes before it.
      if (error.status === 412) return recent.set(wanted(error.problem.value), error.tag);
      throw error;
    });
    showRecentValue(await set);
  });
}

function showRecentValue({ value, tag }) {
  recentIDs = value;
  recentTag = tag;
  showRecent();
}

/** Deletes a note if it is unchanged since it was shown. */
async function remove(id) {
  const shown = notes.item(id);
  if (shown === undefined) return;
  const tellChanged = (now) => tell(`Somebody changed “${headline(shown)}” to “${headline(now)}”. It is still there.`);
  await does(rowOf(id), async () => {
    try {
      const { item, tag } = await notes.read(id);
      if (!equal(item, shown)) return tellChanged(item);
      await notes.remove(id, tag);
      removed = item;
      tell(`Deleted “${headline(item)}”.`, { undo: true });
    } catch (error) {
      const now = error.problem?.value;
      if (error.status === 412 && now !== undefined) tellChanged(now);
      else if (error.status === 412 || error.status === 404) tell(`Somebody else deleted “${headline(shown)}”.`);
      else throw error;
    }
  });
}

async function undo() {
  const note = removed;
  removed = null;
  the("undo").hidden = true;
  the("notes").focus({ preventScroll: true });
  if (note === null) return;
  if (await does(the("undo"), () => notes.put(note, null))) tell(`“${headline(note)}” is back, as the last one.`);
  else if (removed === null) {
    removed = note;
    the("undo").hidden = false;
  }
}

async function begin(id) {
  const { outcome } = await attempt(rowOf(id), () => notes.read(id));
  return outcome === undefined ? null : { note: outcome.item, tag: outcome.tag };
}

async function save(note, tag) {
  const row = rowOf(note.id);
  const { outcome } = await attempt(row.querySelector(".editor") ?? row, async () => {
    try {
      await notes.put(note, tag);
    } catch (error) {
      if (error.status === 412) return { note: error.problem.value ?? null, tag: error.tag };
      throw error;
    }
    tell(`Saved “${headline(note)}”.`);
    return true;
  });
  return outcome ?? false;
}

// The page.

function showCommands() {
  the("command-publish").textContent =
    `curl --json '{"id":"hello","text":"Hello","created":"${new Date().toISOString()}"}' ${location.origin}${notes.url}`;
  the("command-watch").textContent = `curl -N ${location.origin}${notes.url}/events`;
}

/** Begins after the browser has the cookie of its session. Without it, two requests would create two sessions. */
async function begins() {
  await session.state("/p/selected").catch(() => {});
  session.observe("/p/drafts", showDrafts);
  session.observe("/p/selected", () => notes.isKnown && show());
}

const readRecent = () => recent.read().then(showRecentValue, () => {});

the("write").addEventListener("submit", publish);
the("keep").addEventListener("click", keep);
the("text").addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing && publish(event));
the("drafts").addEventListener("click", clickDraft);
the("undo").addEventListener("click", undo);
the("recent").addEventListener("click", ({ target }) => target.dataset.id !== undefined && list.reveal(target.dataset.id));
addEventListener("focus", readRecent);
enableCopying();
showCommands();
enableSettings();
follow(new Wire(the("wire"), the("wire-total")), notes, theme, session);
notes.observe((_, update) => {
  show();
  hear(update);
});
readRecent();
begins();
