// The rows of the todo list: one node per id, only changed if its todo changed. The list knows no session, and reports
// the user's actions.

import { makeSortable } from "./sortable.js";

/** A list shows at most this many rows. A browser lays out thousands easily, but not a hundred thousand. */
export const rowsMax = 2_000;

/**
 * @typedef {{id: string, title: string, done: boolean}} Todo
 */

/**
 * The actions of the user in the list. `rename` returns true if the new title was accepted. The field stays open until
 * then.
 *
 * @typedef {object} Actions
 * @property {(id: string) => any} toggle
 * @property {(id: string) => any} remove
 * @property {(id: string, by: 1 | -1) => any} step moves one position up (-1) or down
 * @property {(id: string, before: string | null) => any} place moves before another shown todo; null: after the last
 *   one
 * @property {(id: string) => any} beginRenaming
 * @property {(id: string, title: string | null) => boolean | Promise<boolean>} rename null: the title stays as it is
 */

/** A list of todos that keeps its nodes. */
export class TodoList {
  #list;
  #template;
  #actions;
  /** @type {Map<string, Row>} The rows that are shown, by id. */
  #rows = new Map();
  /** @type {Parameters<TodoList["show"]>} The arguments of the last `show`. */
  #shown = [[], () => true, null];
  /** True while nodes are moved. A field that loses the focus meanwhile was not left by the user. */
  #isArranging = false;

  /**
   * @param {HTMLElement} list
   * @param {HTMLTemplateElement} template of one row
   * @param {Actions} actions
   */
  constructor(list, template, actions) {
    this.#list = list;
    this.#template = template;
    this.#actions = actions;
    list.addEventListener("change", (event) => event.target.matches(".check") && actions.toggle(idOf(event.target)));
    list.addEventListener("click", (event) => this.#click(event));
    list.addEventListener("dblclick", (event) => event.target.closest(".title") && this.rename(idOf(event.target)));
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("focusout", (event) => this.#leave(event.target));
    makeSortable(list, ".handle", (item, before) => actions.place(idOf(item), before === null ? null : idOf(before)));
  }

  /** The ids of the todos that are shown, in their order. */
  get ids() {
    return [...this.#rows.keys()];
  }

  /**
   * The row of a todo; undefined if it is not shown.
   *
   * @param {string} id
   * @returns {HTMLElement | undefined}
   */
  item(id) {
    return this.#rows.get(id)?.item;
  }

  /**
   * Shows these todos in this order. Existing rows are kept. They are only moved if necessary, and only updated if
   * their todo differs.
   *
   * @param {Todo[]} todos
   * @param {(todo: Todo) => boolean} isShown a todo that is being renamed here always stays
   * @param {string | null} editing the todo that a user is renaming
   * @returns {number} the number of further todos to show, beyond `rowsMax`
   */
  show(todos, isShown, editing) {
    this.#shown = [todos, isShown, editing];
    const rows = new Map();
    let more = 0;
    for (const todo of todos) {
      const kept = this.#rows.get(todo.id);
      const isRenamed = kept?.isOpen ?? false;
      if (!isShown(todo) && !isRenamed) continue;
      if (rows.size >= rowsMax && !isRenamed) {
        more += 1;
        continue;
      }
      const row = kept ?? new Row(todo.id, this.#template);
      row.show(todo, todo.id === editing && !isRenamed);
      rows.set(todo.id, row);
    }
    const focus = this.#focus();
    this.#isArranging = true;
    for (const [id, row] of this.#rows) if (!rows.has(id)) row.item.remove();
    this.#rows = rows;
    this.#arrange([...rows.values()].map((row) => row.item));
    this.#isArranging = false;
    if (focus !== null && document.activeElement === document.body) this.#restore(focus);
    return more;
  }

  /**
   * Opens the title of a todo for editing.
   *
   * @param {string} id
   */
  rename(id) {
    const row = this.#rows.get(id);
    if (row === undefined || row.isOpen) return;
    row.open();
    this.#actions.beginRenaming(id);
  }

  /** Moves the nodes to their positions. Nodes at the right position stay, so that one moved todo is one moved node. */
  #arrange(items) {
    let next = this.#list.firstElementChild;
    for (const item of items) {
      if (item === next) {
        next = next.nextElementSibling;
      } else if (item === next?.nextElementSibling) {
        // The next row moves further down. It is skipped here, and moved when its turn comes.
        next = item.nextElementSibling;
      } else if (item.isConnected && "moveBefore" in this.#list) {
        this.#list.moveBefore(item, next);
      } else {
        this.#list.insertBefore(item, next);
      }
    }
  }

  /** The focused control and its row; null if no row has the focus. */
  #focus() {
    const control = document.activeElement;
    const id = control === null || !this.#list.contains(control) ? "" : idOf(control);
    if (id === "") return null;
    return { id, index: this.ids.indexOf(id), selector: `.${control.classList[0]}` };
  }

  /** Returns the focus to its row, or to the row that is now at its position. */
  #restore({ id, index, selector }) {
    const row = this.#rows.get(id) ?? this.#rows.get(this.ids[Math.min(index, this.#rows.size - 1)]);
    const control = row?.item.querySelector(selector) ?? row?.item.querySelector(".title") ?? this.#list;
    control.focus({ preventScroll: true });
  }

  #click(event) {
    const button = event.target.closest("button");
    if (button === null) return;
    const id = idOf(button);
    if (button.matches(".remove")) this.#actions.remove(id);
    else if (button.matches(".up")) this.#actions.step(id, -1);
    else if (button.matches(".down")) this.#actions.step(id, 1);
    // A mouse needs two clicks. A keyboard, a screen reader (detail 0) and a finger need one.
    else if (event.detail === 0 || event.pointerType === "touch") this.rename(id);
  }

  #key(event) {
    // The key is for the input method: it ends the composition, not the title.
    if (event.isComposing) return;
    const { key, altKey, target } = event;
    if (target.matches(".field")) {
      if (key === "Escape") this.#finish(target, false);
      else if (key === "Enter") this.#finish(target, true);
      return;
    }
    if (idOf(target) === "") return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[key];
    if (step !== undefined && altKey) this.#actions.step(idOf(target), step);
    else if (step !== undefined) this.#walk(target, step);
    else if (key === "F2") this.rename(idOf(target));
    else if (key === "Delete") this.#actions.remove(idOf(target));
    else return;
    event.preventDefault();
  }

  /** Finishes a field that the user leaves, with the typed text. */
  #leave(target) {
    if (target.matches(".field") && !this.#isArranging) this.#finish(target, true);
  }

  /** Moves the focus to the same control of the row above or below. */
  #walk(control, step) {
    const item = control.closest("li");
    const other = step < 0 ? item?.previousElementSibling : item?.nextElementSibling;
    other?.querySelector(`.${control.classList[0]}`)?.focus();
  }

  /**
   * Ends the renaming with the typed title, or with the old one. A refused title stays open. Until the answer arrives,
   * the field is read-only, but another title may be opened.
   */
  async #finish(field, takes) {
    const id = idOf(field);
    const row = this.#rows.get(id);
    if (row === undefined || field.readOnly) return;
    const title = field.value.trim();
    field.readOnly = true;
    const isTaken = await this.#actions.rename(id, takes && title !== "" && title !== row.title ? title : null);
    if (!isTaken && field.isConnected) {
      field.readOnly = false;
      // The focus stays in a field that the user has moved to. Otherwise that field would be left, and so finished.
      if (document.activeElement?.type !== "text") field.focus();
      return;
    }
    row.close(document.activeElement === field);
    this.show(...this.#shown);
  }
}

/** One row. */
class Row {
  /** @type {HTMLElement} */
  item;
  title = "";
  /** True if the title is being renamed here. */
  isOpen = false;
  #done = false;
  #isEdited = false;

  constructor(id, template) {
    this.item = template.content.firstElementChild.cloneNode(true);
    this.item.dataset.id = id;
  }

  /** Updates the nodes that differ from the todo. */
  show({ title, done }, isEdited) {
    const { item } = this;
    const part = (name) => item.querySelector(name);
    if (title !== this.title) {
      this.title = title;
      part(".text").textContent = title;
      part(".check").ariaLabel = title;
      for (const [name, verb] of [[".up", "Move up"], [".down", "Move down"], [".remove", "Remove"]]) {
        part(name).ariaLabel = `${verb}: ${title}`;
      }
    }
    // A click shows its effect at once. A refusal reverts it here.
    if (part(".check").checked !== done) part(".check").checked = done;
    if (done !== this.#done) item.toggleAttribute("data-done", (this.#done = done));
    if (isEdited !== this.#isEdited) part(".edited").hidden = !(this.#isEdited = isEdited);
  }

  open() {
    this.isOpen = true;
    const field = document.createElement("input");
    Object.assign(field, { className: "field", value: this.title, autocomplete: "off", enterKeyHint: "done" });
    field.ariaLabel = `New title of ${this.title}`;
    this.item.querySelector(".title").hidden = true;
    this.item.querySelector(".name").append(field);
    field.focus();
    field.select();
  }

  close(takesFocus) {
    this.isOpen = false;
    const button = this.item.querySelector(".title");
    this.item.querySelector(".field")?.remove();
    button.hidden = false;
    if (takesFocus) button.focus();
  }
}

/** The id of the todo of a node's row. */
function idOf(node) {
  return node.closest("li")?.dataset.id ?? "";
}
