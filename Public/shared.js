// The browser's end of data that the sessions of an app share: local copies of a store and of a value, which follow the
// server's.

import { CatchUp } from "./catch-up.js";
import { Credential } from "./credential.js";
import { FetchSource } from "./fetch-source.js";
import { equal } from "./pointer.js";
import { request, sending } from "./request.js";
import { SharedSource, canShare } from "./shared-source.js";
import { Stream, attempt } from "./stream.js";

/** @typedef {import("./pointer.js").Json} Json */

/** The most items in one page of the server. */
const pageItemsMax = 1_000;

/**
 * @typedef {object} StoreOptions
 * @property {string} app the hosted app's name, such as `"notes"`
 * @property {string} store the store's name
 * @property {string} [base] the server's address; by default this page's own server
 * @property {string} [id] the property that identifies an item; by default `"id"`
 * @property {boolean} [shared] one stream for all pages of the browser, if the browser has shared workers
 * @property {import("./credential.js").CredentialSource} [credential] returns the caller's token
 */

/**
 * @typedef {object} ValueOptions
 * @property {string} app the hosted app's name
 * @property {string} value the value's name
 * @property {string} [base] the server's address; by default this page's own server
 * @property {boolean} [shared] one stream for all pages of the browser, if the browser has shared workers
 * @property {import("./credential.js").CredentialSource} [credential] returns the caller's token
 */

/**
 * A change of a store.
 *
 * @typedef {object} StoreUpdate
 * @property {"loaded" | "insert" | "remove" | "reset" | "local"} event `loaded`, `reset`: all items are different, or
 *   may be; `local`: items that were known when the observer subscribed
 * @property {number} version a count of the server since its start
 * @property {string} cursor
 * @property {any[]} items the items that were added, changed or removed; all items after `loaded`, `reset` and `local`
 * @property {any[]} removed the items that were removed in the same step, before the others were added
 */

/**
 * A change of a value.
 *
 * @typedef {object} ValueUpdate
 * @property {"change" | "local"} event
 * @property {number} version a count of the server since its start
 * @property {string} cursor
 */

/**
 * Follows a store. The first `observe` or request makes the first request to the server.
 *
 *     const notes = followStore({ app: "notes", store: "notes" });
 *     notes.observe((items) => console.log(items.length));
 *     await notes.insert({ id: "1", text: "Milk", created: new Date() });
 *
 * @param {StoreOptions} options
 * @returns {Store}
 */
export function followStore(options) {
  return new Store(options);
}

/**
 * Follows a stored value.
 *
 *     const theme = followValue({ app: "notes", value: "theme" });
 *     theme.observe((value) => (document.documentElement.dataset.theme = value));
 *     await theme.set("dark");
 *
 * @param {ValueOptions} options
 * @returns {Value}
 */
export function followValue(options) {
  return new Value(options);
}

/** The common part of a store and a value: one stream for all observers, open while there are any. */
class Followed {
  /** The address of the resource, without a slash at its end. */
  url;
  /** @type {Stream} */
  stream;
  /** True if there are items or a value to show. */
  isKnown = false;
  /** @type {string | null} The cursor of the local copy; null if no stream can continue from it. */
  cursor = null;
  version = 0;
  /** @type {() => boolean} True if a worker has the stream. */
  isShared;
  #observers = new Set();

  #credential;

  /** `kind` is `store` or `value`. */
  constructor({ shared = false, credential, ...options }, kind, handlers) {
    const { app, base = "", [kind]: name } = options;
    this.#credential = Credential.of(credential);
    this.url = `${base.replace(/\/$/, "")}/v1/apps/${encodeURIComponent(app)}/${kind}s/${encodeURIComponent(name)}`;
    this.isShared = () => shared && canShare();
    this.stream = new Stream({
      ...handlers,
      source: (url) => {
        if (this.isShared()) return new SharedSource(kind, options, this.#credential);
        return this.#credential ? new FetchSource(url, this.#credential) : new EventSource(url);
      },
    });
  }

  /** Sends a request with the token of the page. */
  request(url, options) {
    return request(url, options, this.#credential);
  }

  /** @returns {import("./stream.js").Connection} */
  get connection() {
    return this.stream.connection;
  }

  /**
   * Reports the state of the stream: now, and after each change.
   *
   * @param {(connection: import("./stream.js").Connection) => void} callback
   * @returns {() => void} ends it
   */
  onConnection(callback) {
    return this.stream.onConnection(callback);
  }

  /**
   * Reports every event of the stream.
   *
   * @param {(event: import("./stream.js").WireEvent) => void} callback
   * @returns {() => void} ends it
   */
  onEvent(callback) {
    return this.stream.onEvent(callback);
  }

  /** Opens the stream now, without the back-off. Also works after `close`. */
  reconnect() {
    this.stream.reconnect();
  }

  /** Closes the stream permanently. Known values stay readable. */
  close() {
    this.stream.close();
  }

  /** Adds an observer. `local` makes the arguments of its first call from the known values. */
  follow(callback, local) {
    const observer = { callback };
    this.#observers.add(observer);
    if (this.#observers.size === 1 && !this.stream.isResting) this.stream.open();
    if (this.isKnown) queueMicrotask(() => this.#observers.has(observer) && attempt(() => callback(...local())));
    return () => {
      if (this.#observers.delete(observer) && this.#observers.size === 0) this.stream.drop();
    };
  }

  notify(...news) {
    for (const { callback } of [...this.#observers]) attempt(() => callback(...news));
  }
}

/** One store of one app. Make it with {@link followStore}. */
export class Store extends Followed {
  #identify;
  /** @type {Map<string, any>} The items by id, in the store's order. A set item keeps its position, as in a store. */
  #items = new Map();
  /** @type {any[] | null} The items as a list, after its first use. */
  #list = null;
  /** @type {CatchUp | null} Set while events repeat changes that the pages of the list may already have. */
  #catchUp = null;
  /** @type {[string, any, string][] | null} The events that arrive while the rest of a list is fetched. */
  #waiting = null;
  /** Cancels the fetch of the rest of a list. */
  #fetching = new AbortController();

  /** @param {StoreOptions} options */
  constructor(options) {
    super(options, "store", {
      names: ["initialized", "loaded", "insert", "remove", "reset"],
      // A shared stream begins with the list, so that it is not fetched.
      prepare: async (signal) => this.isShared() || this.#load(signal),
      address: () => `${this.url}/events?cursor=${encodeURIComponent(this.cursor ?? "")}`,
      take: (name, content, cursor) => this.#take(name, content, cursor),
      forget: () => (this.cursor = null),
    });
    this.#identify = (item) => item[options.id ?? "id"];
  }

  /** The known items in the store's order. The list is never altered, and an unchanged item is the same object. */
  get items() {
    return (this.#list ??= [...this.#items.values()]);
  }

  /**
   * The item with this id, if it is known.
   *
   * @param {string} id
   */
  item(id) {
    return this.#items.get(id);
  }

  /**
   * Watches the items. The callback gets all items as soon as they are known, and again after every change.
   *
   * @param {(items: any[], update: StoreUpdate) => void} callback
   * @returns {() => void} ends the observation
   */
  observe(callback) {
    return this.follow(callback, () => [this.items, this.#update("local", this.items)]);
  }

  // Requests. Each is rejected with a RivuletError if the server refuses it.

  /**
   * Inserts an item, or several as one transaction. An item with an existing id replaces the existing one.
   *
   * @param {any} items one item, or an array
   * @returns {Promise<void>}
   */
  async insert(items) {
    await this.request(this.url, sending("POST", items));
  }

  /**
   * Reads an item from the server, not from the local copy.
   *
   * @param {string} id
   * @returns {Promise<{item: any, tag: string}>} `put` and `remove` take the `tag`
   */
  async read(id) {
    const response = await this.request(this.#place(id), { cache: "no-store" });
    return { item: await response.json(), tag: response.headers.get("ETag") ?? "" };
  }

  /**
   * Writes an item under its id. With `tag`, it only replaces the item with this tag. With null, it is only written if
   * there is no item. Otherwise the error's status is 412, its `problem.value` is the existing item (absent if there is
   * none), and its `tag` that item's tag.
   *
   * @param {any} item
   * @param {string | null} [tag]
   * @returns {Promise<string>} the new tag
   */
  async put(item, tag) {
    const condition = tag === undefined ? {} : tag === null ? { "If-None-Match": "*" } : { "If-Match": tag };
    const response = await this.request(this.#place(this.#identify(item)), sending("PUT", item, condition));
    return response.headers.get("ETag") ?? "";
  }

  /**
   * Removes an item. With `tag`, only the item with this tag is removed.
   *
   * @param {string} id
   * @param {string} [tag]
   * @returns {Promise<void>}
   */
  async remove(id, tag) {
    await this.request(this.#place(id), { method: "DELETE", headers: tag === undefined ? {} : { "If-Match": tag } });
  }

  /**
   * Performs a chain as one transaction, such as `[{ remove: ["a"] }, { insert: [item] }]`, or `[{ removeAll: {} }]`.
   *
   * @param {Json[]} operations
   * @returns {Promise<void>}
   */
  async perform(operations) {
    await this.request(`${this.url}/operations`, sending("POST", { operations }));
  }

  close() {
    this.#fetching.abort();
    super.close();
  }

  #place(id) {
    return `${this.url}/${encodeURIComponent(id)}`;
  }

  // The list.

  /** Fetches the list, unless a stream can continue from the local copy. */
  async #load(signal) {
    this.#fetching.abort();
    this.#waiting = null;
    if (this.cursor !== null) return;
    const { items, cursor, version, catchUp } = await this.#pages(null, signal);
    this.#become("loaded", items, version, cursor, catchUp);
  }

  /**
   * Fetches all items, or the items after one of them, page by page. The list may change between two pages. So it has
   * the cursor of the first page, and the events since then come again.
   */
  async #pages(after, signal) {
    const items = new Map();
    const starts = new Set();
    let first, page;
    do {
      if (after !== null) starts.add(after);
      page = await this.#page(after, signal);
      first ??= page;
      for (const item of page.items) items.set(this.#identify(item), item);
      after = page.next ?? null;
    } while (after !== null);
    return { items, cursor: first.cursor, version: first.version, catchUp: new CatchUp(starts, page.version) };
  }

  async #page(after, signal) {
    const query = after === null ? "" : `&after=${encodeURIComponent(after)}`;
    const response = await this.request(`${this.url}?limit=${pageItemsMax}${query}`, { cache: "no-store", signal });
    // The tag of a compressed answer is the cursor with a suffix.
    const cursor = (response.headers.get("ETag") ?? "").replaceAll('"', "").replace(/-gzip$/, "");
    return { ...(await response.json()), cursor };
  }

  // Events.

  /** Applies one event. Returns false if the list must be fetched again. */
  #take(name, content, cursor) {
    // The server has not read its store yet. The local copy stays until it has.
    if (name === "initialized") return true;
    if (name === "loaded" || name === "reset") return this.#replace(name, content, cursor);
    if (this.#waiting !== null) return this.#waiting.push([name, content, cursor]) > 0;

    const ids = content.items.map(this.#identify);
    // Items that were removed in the same step, before the new items were added.
    const removed = content.removedAll ? this.items : (content.removed ?? []);
    const gone = removed.map(this.#identify);
    // If all items were removed, the list of removed ids lacks items that no page had yet.
    if (content.removedAll && content.version <= (this.#catchUp?.until ?? -1)) return this.#startOver();
    if (gone.length > 0 && this.#catchUp?.isBroken("remove", gone, content.version)) return this.#startOver();
    if (this.#catchUp?.isBroken(name, ids, content.version)) return this.#startOver();
    for (const id of gone) this.#items.delete(id);
    if (content.version >= (this.#catchUp?.until ?? 0)) this.#catchUp = null;
    for (const [index, id] of ids.entries()) {
      if (name === "insert") this.#items.set(id, content.items[index]);
      else this.#items.delete(id);
    }
    this.#list = null;
    this.cursor = cursor;
    this.version = content.version;
    this.notify(this.items, this.#update(name, content.items, removed));
    return true;
  }

  /** Replaces the local copy with the list of an event, and with pages if the list did not fit into the event. */
  #replace(name, content, cursor) {
    this.#fetching.abort();
    this.#waiting = null;
    const items = new Map(content.items.map((item) => [this.#identify(item), item]));
    if (content.next === undefined) this.#become(name, items, content.version, cursor, null);
    else this.#fetchRest(name, items, content, cursor);
    return true;
  }

  async #fetchRest(name, items, { version, next }, cursor) {
    const { signal } = (this.#fetching = new AbortController());
    this.cursor = null;
    this.#waiting = [];
    try {
      const rest = await this.#pages(next, signal);
      if (signal.aborted) return;
      for (const [id, item] of rest.items) items.set(id, item);
      const waiting = this.#waiting;
      this.#waiting = null;
      this.#become(name, items, version, cursor, rest.catchUp);
      waiting.every((event) => this.#take(...event));
    } catch (error) {
      if (signal.aborted) return;
      this.cursor = null;
      this.stream.fail(error);
    }
  }

  #startOver() {
    this.cursor = null;
    this.stream.again();
    return false;
  }

  #become(name, items, version, cursor, catchUp) {
    for (const [id, item] of items) {
      const known = this.#items.get(id);
      if (known !== undefined && equal(known, item)) items.set(id, known);
    }
    this.#items = items;
    this.#list = null;
    this.#catchUp = catchUp;
    this.cursor = cursor;
    this.version = version;
    this.isKnown = true;
    this.notify(this.items, this.#update(name, this.items));
  }

  /** @returns {StoreUpdate} */
  #update(event, items, removed = []) {
    return { event, version: this.version, cursor: this.cursor ?? "", items, removed };
  }
}

/** One stored value of one app. Make it with {@link followValue}. */
export class Value extends Followed {
  /** @type {Json | undefined} The value, if it is known. */
  value;

  /** @param {ValueOptions} options */
  constructor(options) {
    super(options, "value", {
      names: ["change"],
      address: () => `${this.url}/changes${this.cursor === null ? "" : `?cursor=${encodeURIComponent(this.cursor)}`}`,
      take: (_, { value, version }, cursor) => this.#become(value, version, cursor),
      forget: () => (this.cursor = null),
    });
  }

  /**
   * Watches the value. The callback gets it as soon as it is known, and again after every change.
   *
   * @param {(value: Json, update: ValueUpdate) => void} callback
   * @returns {() => void} ends the observation
   */
  observe(callback) {
    return this.follow(callback, () => [this.value, this.#update("local")]);
  }

  // Requests. Each returns the current value and its tag, and is rejected with a RivuletError if the server refuses it.
  // With `tag`, a change is only made if the value still has that tag. Otherwise the error's status is 412, its
  // `problem.value` the value, and its `tag` the value's tag.

  /** @returns {Promise<{value: Json, tag: string}>} */
  read() {
    return this.#ask({ cache: "no-store" });
  }

  /**
   * @param {Json} value
   * @param {string} [tag]
   */
  set(value, tag) {
    return this.#ask(sending("PUT", value, conditionOn(tag)));
  }

  /**
   * Resets the value to its default.
   *
   * @param {string} [tag]
   */
  reset(tag) {
    return this.#ask({ method: "DELETE", headers: conditionOn(tag) });
  }

  /**
   * Toggles true and false.
   *
   * @param {string} [tag]
   */
  toggle(tag) {
    return this.#ask({ method: "POST", headers: conditionOn(tag) }, "/toggle");
  }

  async #ask(options, path = "") {
    const response = await this.request(this.url + path, options);
    return { value: await response.json(), tag: response.headers.get("ETag") ?? "" };
  }

  #become(value, version, cursor) {
    this.value = value;
    this.version = version;
    this.cursor = cursor;
    this.isKnown = true;
    this.notify(value, this.#update("change"));
  }

  /** @returns {ValueUpdate} */
  #update(event) {
    return { event, version: this.version, cursor: this.cursor ?? "" };
  }
}

function conditionOn(tag) {
  return tag === undefined ? {} : { "If-Match": tag };
}
