// The events that come while a client reads the pages of a list.

/**
 * The events between the first page of a list and its last. The later pages may already have their changes.
 * Applying them again is harmless, with two exceptions, after which items may be missing or at a wrong position.
 */
export class CatchUp {
  #starts;
  #removed = new Set();
  /** The version of the last page. */
  until;

  constructor(starts, until) {
    this.#starts = starts;
    this.until = until;
  }

  /** True if the item before a page was removed, as the page may begin elsewhere, or if a removed item returned. */
  isBroken(name, ids, version) {
    if (version > this.until) return false;
    if (name === "insert") return ids.some((id) => this.#removed.has(id));
    ids.forEach((id) => this.#removed.add(id));
    return ids.some((id) => this.#starts.has(id));
  }
}
