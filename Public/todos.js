// The todo list's page: shows one session of the `todos` app as its stream updates it, and turns the user's actions
// into events.

import { attempt } from "./errors.js";
import { enableCopying, follow, freshID, isSessionID, the } from "./page.js";
import { Wire } from "./panels.js";
import { connect } from "./rivulet.js";
import { TodoList } from "./todo-list.js";

/** @typedef {import("./todo-list.js").Todo} Todo */

const paths = ["/p/todos", "/p/filter", "/t/editing"];
/** The most events that the server accepts as one transaction. */
const eventsMax = 1_000;

/** @type {{[filter: string]: (todo: Todo) => boolean}} */
const filters = { all: () => true, open: (todo) => !todo.done, done: (todo) => todo.done };

const id = sessionID();
const session = connect({ app: "todos", session: id });
const list = new TodoList(the("todos"), the("todo"), { toggle, remove, step, place, beginRenaming, rename });
/**
 * @type {{todo: Todo, index: number}[]} The todos of the last removal, in the order of the list, until they are
 *   restored.
 */
let removed = [];

/** The session that the address names. Without a name, a new session, which the address names from now on. */
function sessionID() {
  const named = new URLSearchParams(location.search).get("session") ?? "";
  if (isSessionID(named)) return named;
  const fresh = freshID();
  history.replaceState(null, "", `?session=${fresh}`);
  return fresh;
}

/** Shows the current session. */
function show() {
  const todos = allTodos();
  const filter = String(session.value("/p/filter") ?? "all");
  const open = todos.filter(filters.open).length;
  const more = list.show(todos, filters[filter] ?? filters.all, session.value("/t/editing") ?? null);

  the("open-count").textContent = `${open} open`;
  the("total").textContent = `of ${todos.length}`;
  document.title = `${open} open · Todos`;
  const radio = document.querySelector(`#filters [value="${CSS.escape(filter)}"]`);
  if (radio !== null) radio.checked = true;
  the("clear-done").disabled = open === todos.length;
  the("rest").hidden = list.ids.length > 0 && more === 0;
  the("rest").textContent = more > 0 ? `${more} more are not shown.`
    : todos.length === 0 ? "Nothing to do. Add something above." : `No ${filter} todos.`;
}

/** @returns {Todo[]} */
function allTodos() {
  return session.value("/p/todos") ?? [];
}

/** @returns {Todo | undefined} */
function todoOf(id) {
  return allTodos().find((todo) => todo.id === id);
}

/**
 * Sends an event, or several as one transaction. A refusal is shown beside the control, and the list shows the server's
 * state again.
 *
 * @param {import("./rivulet.js").Json} event
 * @param {Element} control the control that was used
 * @returns {Promise<import("./rivulet.js").Answer | null>} null if it was refused
 */
async function dispatch(event, control) {
  const { outcome, error } = await attempt(control, () => session.dispatch(event));
  if (error !== null) show();
  return outcome ?? null;
}

/** The row of a todo, which shows its errors. For a todo that is not shown, they are above the list. */
function rowOf(id) {
  return list.item(id) ?? the("filters");
}

/** Shows the outcome below the list. `undo` offers to undo it. */
function tell(text, { undo = false } = {}) {
  the("news").textContent = text;
  the("undo").hidden = !undo;
}

async function add(submit) {
  submit.preventDefault();
  const field = the("new-title");
  const title = field.value.trim();
  if (title === "") return;
  field.value = "";
  if (await dispatch({ add: { id: freshID(), title } }, field)) tell(`Added “${title}”.`);
  else if (field.value === "") field.value = title;
}

function toggle(id) {
  return dispatch({ toggle: id }, rowOf(id));
}

async function remove(id) {
  const todo = todoOf(id);
  const index = allTodos().findIndex((one) => one.id === id);
  if (todo === undefined || !(await dispatch({ remove: id }, rowOf(id)))) return;
  removed = [{ todo, index }];
  tell(`Removed “${todo.title}”.`, { undo: true });
}

async function clearDone() {
  const gone = allTodos().map((todo, index) => ({ todo, index })).filter(({ todo }) => todo.done);
  if (!(await dispatch("clearDone", the("clear-done")))) return;
  removed = 2 * gone.length <= eventsMax ? gone : [];
  tell(`Removed ${gone.length} done.`, { undo: removed.length > 0 });
}

/** Restores the todos of the last removal to their positions, as one transaction: all or none. */
async function undo() {
  const taken = removed;
  removed = [];
  the("undo").hidden = true;
  the("todos").focus({ preventScroll: true });
  let count = allTodos().length;
  const events = taken.flatMap(({ todo: { id, title, done }, index }) => {
    const at = Math.min(index, count++);
    return [{ insert: { id, title, at } }, ...(done ? [{ toggle: id }] : [])];
  });
  // If other todos were removed in the meantime, undo now applies to those.
  if (await dispatch(events, the("undo"))) {
    const news = taken.length === 1 ? `“${taken[0].todo.title}” is back.` : `${taken.length} are back.`;
    tell(news, { undo: removed.length > 0 });
  } else {
    if (removed.length === 0) removed = taken;
    the("undo").hidden = false;
  }
}

/** Adds a hundred todos, to show their events on the wire. The server ignores existing ones. */
async function addMany() {
  const answer = await dispatch({ addMany: { count: 100 } }, the("many"));
  if (answer !== null) tell(answer.changes.length > 0 ? `Added ${answer.changes.length}.` : "They are there already.");
}

/** Moves a todo one position up or down among the shown todos. */
function step(id, by) {
  const { ids } = list;
  const index = ids.indexOf(id) + by;
  if (index < 0 || index >= ids.length) return tell(by < 0 ? "It is the first one already." : "It is the last one that is shown.");
  return place(id, (by < 0 ? ids[index] : ids[index + 1]) ?? null);
}

/** Moves a todo before another shown todo, or after the last shown one. Hidden todos keep their positions. */
async function place(id, before) {
  const shown = list.ids.filter((one) => one !== id);
  const others = allTodos().map((todo) => todo.id).filter((one) => one !== id);
  const to = before === null ? others.indexOf(shown.at(-1)) + 1 : others.indexOf(before);
  if (await dispatch({ move: { id, to } }, rowOf(id))) tell(`Moved “${todoOf(id)?.title}” to ${to + 1} of ${others.length + 1}.`);
}

/** The renaming that this page began: its todo, the todo that was edited before, and the pending request. */
let begun = null;

function beginRenaming(id) {
  begun = { id, earlier: session.value("/t/editing") ?? null, known: dispatch({ edit: id }, rowOf(id)) };
  return begun.known;
}

/** True if the session says that this page's renaming continues, or will say so when its events arrive. */
async function isRenaming(id) {
  const { earlier, known } = begun?.id === id ? begun : {};
  begun = null;
  await known;
  const editing = session.value("/t/editing") ?? null;
  return editing === id || (known !== undefined && editing === earlier);
}

/** Renames a todo and ends the editing in one transaction. If the todo is gone, there is no title to rename. */
async function rename(id, title) {
  const end = (await isRenaming(id)) ? [{ edit: null }] : [];
  if (title === null) return end.length === 0 || (await dispatch(end[0], rowOf(id))) !== null;
  return (await dispatch([{ rename: { id, title } }, ...end], rowOf(id))) !== null || todoOf(id) === undefined;
}

function showSession() {
  the("session-id").textContent = id;
  the("twin").href = `?session=${id}`;
  the("raw").href = `${session.url}/state`;
  the("counter-link").href = `/#${id}`;
  the("command-add").textContent =
    `curl --json '{"add":{"id":"milk","title":"Milk"}}' ${location.origin}${session.url}/events`;
  the("command-watch").textContent = `curl -N '${location.origin}${session.url}/changes?path=/p/todos'`;
}

the("add").addEventListener("submit", add);
the("filters").addEventListener("change", (event) => dispatch({ setFilter: event.target.value }, the("filters")));
the("clear-done").addEventListener("click", clearDone);
the("undo").addEventListener("click", undo);
the("many").addEventListener("click", addMany);
enableCopying();
showSession();
follow(new Wire(the("wire"), the("wire-total")), session);
session.observe(paths, show);
