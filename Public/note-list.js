// The rows of the shared notes: one node per id, and the field of a note that is being edited. The list knows no
// server, and reports the user's actions.

/** A list shows at most this many rows. A browser lays out thousands easily, but not a hundred thousand. */
export const rowsMax = 2_000;

/** @typedef {{id: string, text: string, created: string}} Note */

/**
 * A conflict with another change: the note as it is now, null if it is gone, and its tag.
 *
 * @typedef {{note: Note | null, tag: string | null}} Conflict
 */

/**
 * The actions of the user in the list.
 *
 * @typedef {object} Actions
 * @property {(id: string) => any} open
 * @property {(id: string) => any} remove
 * @property {(id: string) => Promise<{note: Note, tag: string} | null>} begin returns the note to edit, or null if it
 *   cannot be edited
 * @property {(note: Note, tag: string | null) => Promise<Conflict | boolean>} save replaces the note with this tag, or
 *   with null creates it; returns true if it was saved, false if it was refused
 */

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A list of notes that keeps its nodes. */
export class NoteList {
  #list;
  #templates;
  #actions;
  /** @type {Map<string, Row>} The rows that are shown, by id. */
  #rows = new Map();
  /** @type {[Note[], string | null]} The arguments of the last `show`. */
  #shown = [[], null];

  /**
   * @param {HTMLElement} list
   * @param {{note: HTMLTemplateElement, editor: HTMLTemplateElement}} templates
   * @param {Actions} actions
   */
  constructor(list, templates, actions) {
    this.#list = list;
    this.#templates = templates;
    this.#actions = actions;
    list.addEventListener("click", (event) => this.#click(event.target.closest("button")));
    list.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save(this.#rowOf(event.target));
    });
    list.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * Shows these notes in this order. A row that is being edited stays, even if its note is gone.
   *
   * @param {Note[]} notes
   * @param {string | null} selected the note that is shown in full
   * @returns {number} the number of notes beyond `rowsMax`
   */
  show(notes, selected) {
    this.#shown = [notes, selected];
    const rows = new Map();
    for (const note of notes.slice(0, rowsMax)) {
      const row = this.#rows.get(note.id) ?? new Row(note.id, this.#templates);
      row.show(note, note.id === selected);
      rows.set(note.id, row);
    }
    const focus = this.#focus();
    for (const [id, row] of this.#rows) {
      if (rows.has(id)) continue;
      if (row.isEdited) rows.set(id, row);
      else row.item.remove();
    }
    this.#rows = rows;
    let next = this.#list.firstElementChild;
    for (const { item } of rows.values()) {
      if (item === next) next = next.nextElementSibling;
      else this.#list.insertBefore(item, next);
    }
    if (focus !== null && document.activeElement === document.body) this.#restore(focus);
    return Math.max(notes.length - rowsMax, 0);
  }

  /**
   * The row of a note; undefined if it is not shown.
   *
   * @param {string} id
   * @returns {HTMLElement | undefined}
   */
  item(id) {
    return this.#rows.get(id)?.item;
  }

  /**
   * Moves the focus to a note.
   *
   * @param {string} id
   */
  reveal(id) {
    const row = this.#rows.get(id);
    row?.item.scrollIntoView({ block: "nearest" });
    row?.item.querySelector(".open").focus({ preventScroll: true });
  }

  #click(button) {
    const row = button === null ? undefined : this.#rowOf(button);
    if (row === undefined) return;
    if (button.matches(".open")) this.#actions.open(row.id);
    else if (button.matches(".remove")) this.#actions.remove(row.id);
    else if (button.matches(".edit")) this.#edit(row);
    else if (button.matches(".cancel")) this.#close(row);
  }

  #key(event) {
    const row = this.#rowOf(event.target);
    // The key is for the input method: it ends the composition, not the note.
    if (row === undefined || event.isComposing) return;
    const { key, target } = event;
    const step = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" }[key];
    if (target.matches(".field")) {
      if (key === "Escape") this.#close(row);
      else if (key === "Enter" && (event.ctrlKey || event.metaKey)) this.#save(row);
      else return;
    } else if (target.closest(".editor") !== null) return;
    else if (step !== undefined) row.item[step]?.querySelector(`.${target.classList[0]}`)?.focus();
    else if (key === "F2") this.#edit(row);
    else if (key === "Delete") this.#actions.remove(row.id);
    else return;
    event.preventDefault();
  }

  async #edit(row) {
    const begun = await this.#actions.begin(row.id);
    if (begun !== null && row.item.isConnected && !row.isEdited) row.edit(begun.note, begun.tag);
  }

  /** Saves the typed text. A conflict is shown in the row, which stays open with the typed text. */
  async #save(row) {
    if (row === undefined || row.isSaving) return;
    const { note, tag } = row.edited;
    if (note.text.trim() === "") return row.field.focus();
    row.isSaving = true;
    const outcome = await this.#actions.save(note, tag);
    row.isSaving = false;
    if (outcome === true) this.#close(row);
    else if (outcome !== false && row.isEdited) row.tell(outcome);
  }

  #close(row) {
    const hadFocus = row.item.contains(document.activeElement);
    row.close();
    this.show(...this.#shown);
    if (!hadFocus) return;
    if (row.item.isConnected) row.item.querySelector(".edit").focus();
    else this.#list.focus({ preventScroll: true });
  }

  /** The focused control and its row; null if no row has the focus. */
  #focus() {
    const control = document.activeElement;
    const id = this.#list.contains(control) ? (control.closest("li")?.dataset.id ?? null) : null;
    return id === null ? null : { id, index: [...this.#rows.keys()].indexOf(id), selector: `.${control.classList[0]}` };
  }

  /** Returns the focus to its row, or to the row that is now at its position. */
  #restore({ id, index, selector }) {
    const item = this.#rows.get(id)?.item ?? this.#list.children[Math.min(index, this.#rows.size - 1)];
    (item?.querySelector(selector) ?? this.#list).focus({ preventScroll: true });
  }

  #rowOf(node) {
    return this.#rows.get(node.closest("li")?.dataset.id ?? "");
  }
}

/** One row. */
class Row {
  id;
  /** @type {HTMLElement} */
  item;
  #template;
  /** @type {Note | null} */
  #note = null;
  /**
   * @type {{note: Note, tag: string | null} | null} The note that is being edited, and the tag of the version that it
   *   replaces.
   */
  #edited = null;

  constructor(id, { note, editor }) {
    this.id = id;
    this.item = note.content.firstElementChild.cloneNode(true);
    this.item.dataset.id = id;
    this.#template = editor;
  }

  /** Updates the nodes that differ from the note. */
  show(note, isSelected) {
    const { item } = this;
    if (item.hasAttribute("data-selected") !== isSelected) {
      item.toggleAttribute("data-selected", isSelected);
      item.querySelector(".open").ariaExpanded = String(isSelected);
    }
    if (note === this.#note) return;
    this.#note = note;
    item.querySelector(".text").textContent = note.text;
    const time = item.querySelector("time");
    time.dateTime = note.created;
    time.textContent = dates.format(new Date(note.created));
    for (const [name, verb] of [[".edit", "Edit"], [".remove", "Delete"]]) {
      item.querySelector(name).ariaLabel = `${verb}: ${headline(note)}`;
    }
  }

  get isEdited() {
    return this.#edited !== null;
  }

  /** The typed text, and the tag of the version that it replaces. */
  get edited() {
    return { note: { ...this.#edited.note, text: this.field.value }, tag: this.#edited.tag };
  }

  /** @returns {HTMLTextAreaElement} */
  get field() {
    return this.item.querySelector(".field");
  }

  get isSaving() {
    return this.field?.readOnly ?? false;
  }

  set isSaving(isSaving) {
    if (this.field !== null) this.field.readOnly = isSaving;
  }

  edit(note, tag) {
    this.#edited = { note, tag };
    this.item.append(this.#template.content.firstElementChild.cloneNode(true));
    this.item.toggleAttribute("data-edited", true);
    this.field.value = note.text;
    this.field.focus();
  }

  /** Shows a conflict. The next attempt replaces the conflicting version. */
  tell({ note, tag }) {
    this.#edited = { note: note ?? this.#edited.note, tag };
    const part = (name) => this.item.querySelector(name);
    part(".conflict").hidden = false;
    part(".conflict-news").textContent =
      note === null ? "Somebody deleted this note meanwhile." : "Somebody changed this note meanwhile. Now it says:";
    part(".theirs").textContent = note?.text ?? "";
    part(".save").textContent = note === null ? "Publish it again" : "Save mine instead";
    part(".cancel").textContent = note === null ? "Leave it" : "Keep theirs";
    part(".save").focus();
  }

  close() {
    this.#edited = null;
    this.item.querySelector(".editor")?.remove();
    this.item.toggleAttribute("data-edited", false);
  }
}

/**
 * The beginning of a note, used as its name.
 *
 * @param {{text: string}} note
 */
export function headline({ text }) {
  const [line] = text.trim().split("\n", 1);
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}
