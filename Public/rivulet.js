// The browser's end of a session: one event stream that reconnects by itself, a local copy of the watched paths, and
// dispatch.

import { Credential } from "./credential.js";
import { FetchSource } from "./fetch-source.js";
import { applyAll, covers, equal, expand, get, overlaps, remove, set, tokens } from "./pointer.js";
import { request, sending } from "./request.js";
import { SharedSource, canShare } from "./shared-source.js";
import { Stream, attempt } from "./stream.js";

export * from "./pointer.js";
export { RivuletError, request, sending } from "./request.js";
export * from "./shared.js";

/** @typedef {import("./pointer.js").Json} Json */
/** @typedef {import("./pointer.js").Change} Change */
/** @typedef {import("./stream.js").Connection} Connection */
/** @typedef {import("./stream.js").WireEvent} WireEvent */

/** The most `path=` queries that the server accepts. With more paths, the stream carries the whole state. */
const pathsMax = 64;

/**
 * @typedef {object} Options
 * @property {string} app the hosted app's name, such as `"counter"`
 * @property {string} session the session's id, `[A-Za-z0-9_-]{1,128}`
 * @property {string} [base] the server's address, such as `"https://example.org"`; by default this page's own server
 * @property {boolean} [shared] one stream for all pages of the browser that watch this session, if the browser has
 *   shared workers
 * @property {import("./credential.js").CredentialSource} [credential] returns the caller's token:
 *   `async ({ refresh }) => token`
 */

/**
 * A change of an observer's values.
 *
 * @typedef {object} Update
 * @property {"snapshot" | "change" | "reset" | "local"} event `local`: values that were known when it subscribed
 * @property {number} version the durable version of the session
 * @property {string | null} cursor
 * @property {Change[]} changes the changes that affect the observer, in the server's order
 */

/**
 * The answer to a dispatch: the committed changes, and the values that a wrapper changed.
 *
 * @typedef {object} Answer
 * @property {number} version
 * @property {string} cursor
 * @property {boolean} durable true if it was on disk before the server answered
 * @property {Change[]} changes
 * @property {{path: string, from: Json, to: Json}[]} [coerced]
 */

/**
 * Opens a session. The first request is made by the first `observe`, `dispatch` or `state`. A lost stream reconnects by
 * itself, after at most 2 s in the first half minute and 5 s later. While the page is hidden, it may take longer.
 *
 *     const session = connect({ app: "counter", session: "demo" });
 *     session.observe("/p/count", (values) => console.log(values["/p/count"]));
 *     await session.dispatch("increment");
 *
 * Integers beyond 2^53 lose their last digits in JavaScript's JSON. Store such values as strings.
 *
 * @param {Options} options
 * @returns {Session}
 */
export function connect(options) {
  return new Session(options);
}

/**
 * @type {Map<string, Promise<unknown>>} The first request for `me` on each server. Its answer brings the cookie that
 *   names the caller.
 */
const callers = new Map();

/** One session of one app. Make it with {@link connect}. */
export class Session {
  #url;
  /** @type {Json | undefined} The local copy: the known parts of the state, in the state's shape. */
  #root;
  /** @type {string | null} */
  #cursor = null;
  #version = 0;
  /** @type {string[]} The paths with known values in the local copy. */
  #known = [];
  /** @type {string[]} The paths of the open stream. */
  #streamed = [];
  /** @type {Set<{paths: string[], callback: (values: {[path: string]: Json}, update: Update) => void}>} */
  #observers = new Set();
  #refreshQueued = false;
  /**
   * @type {RequestInit} A cookie names the caller's own session. It is only sent to another origin if the options
   *   include it.
   */
  #cookies;
  /** @type {Credential | undefined} */
  #credential;
  #stream;

  /** @param {Options} options */
  constructor({ shared = false, credential, ...options }) {
    const { app, session, base = "" } = options;
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(session ?? "")) {
      throw new TypeError(`connect needs a session of 1 to 128 letters, digits, "_" and "-"; found ${JSON.stringify(session) ?? "none"}`);
    }
    if (!app) throw new TypeError("connect needs the name of an app");
    this.#credential = Credential.of(credential);
    // With a token, `me` is the session of the token's subject.
    this.#cookies = session === "me" && !this.#credential ? { credentials: "include" } : {};
    this.#stream = new Stream({
      names: ["snapshot", "change", "reset"],
      address: () => this.#address(),
      take: (name, content, cursor) => this.#take(name, content, cursor),
      forget: () => (this.#cursor = null),
      source: (url) => {
        if (shared && canShare()) return new SharedSource("session", { ...options, paths: this.#streamed }, this.#credential);
        if (this.#credential) return new FetchSource(url, this.#credential);
        return new EventSource(url, { withCredentials: session === "me" });
      },
    });
    this.#url = `${base.replace(/\/$/, "")}/v1/apps/${encodeURIComponent(app)}/sessions/${encodeURIComponent(session)}`;
  }

  /** The address of the session's resource, without a slash at its end. */
  get url() {
    return this.#url;
  }

  /** @returns {Connection} */
  get connection() {
    return this.#stream.connection;
  }

  /**
   * Watches key paths. The callback gets the current values as soon as they are known, and again after every event that
   * changed them. Its arguments are all values by path, without paths that have no value, and the changes. Values are
   * never altered: an unchanged value is the same object (`===`) as before, such as the other elements of a collection.
   *
   * All observers of a session share one stream. A new path that the stream does not carry reopens it with a snapshot,
   * because a resumed stream would only have later changes. Until the snapshot arrives, every local value stays.
   *
   * @param {string | string[]} paths JSON Pointers; a token `*` stands for any one token
   * @param {(values: {[path: string]: Json}, update: Update) => void} callback
   * @returns {() => void} ends the observation
   * @throws {SyntaxError} if a path is no JSON Pointer
   */
  observe(paths, callback) {
    const observer = { paths: [paths].flat(), callback };
    observer.paths.forEach(tokens);
    this.#observers.add(observer);
    this.#refresh();
    if (this.#knows(observer.paths)) {
      queueMicrotask(() => {
        if (this.#observers.has(observer)) this.#notify(observer, "local", []);
      });
    }
    return () => {
      this.#observers.delete(observer);
      if (this.#observers.size === 0) this.#refresh();
    };
  }

  /**
   * Sends one event, or an array of them as one atomic transaction.
   *
   * @param {Json} event `"increment"`, `{"setCount": 5}`, `{"move": {"x": 1, "y": 2}}`
   * @returns {Promise<Answer>}
   * @throws {RivuletError} if it was refused, or if no answer came; without an answer, it may or may not have been
   *   accepted
   */
  async dispatch(event) {
    await this.#callerIsKnown();
    const response = await request(`${this.#url}/events`, { ...sending("POST", event), ...this.#cookies }, this.#credential);
    return response.json();
  }

  /**
   * Reads the value at a key path from the server, not from the local copy.
   *
   * @param {string} [path] `""`: the whole state
   * @returns {Promise<{value: Json, version: number, cursor: string}>}
   * @throws {RivuletError | SyntaxError}
   */
  async state(path = "") {
    tokens(path);
    const place = path.split("/").map(encodeURIComponent).join("/");
    await this.#callerIsKnown();
    const response = await request(`${this.#url}/state${place}`, { cache: "no-store", ...this.#cookies }, this.#credential);
    return {
      value: await response.json(),
      version: Number(response.headers.get("Rivulet-Version")),
      // The tag of a compressed answer is the cursor with a mark.
      cursor: (response.headers.get("ETag") ?? "").replaceAll('"', "").replace(/-gzip$/, ""),
    };
  }

  /**
   * The local value at a key path, or `undefined` if it is not known.
   *
   * @param {string} path
   * @returns {Json | undefined}
   */
  value(path) {
    return get(this.#root, path);
  }

  /**
   * Reports the state of the stream: now, and after each change.
   *
   * @param {(connection: Connection) => void} callback
   * @returns {() => void} ends it
   */
  onConnection(callback) {
    return this.#stream.onConnection(callback);
  }

  /**
   * Reports every event of the stream, after the local copy was updated.
   *
   * @param {(event: WireEvent) => void} callback
   * @returns {() => void} ends it
   */
  onEvent(callback) {
    return this.#stream.onEvent(callback);
  }

  /** Opens the stream now, without the back-off. Also works after `close`. */
  reconnect() {
    this.#stream.reconnect();
  }

  /** Closes the stream permanently. Local values stay readable. */
  close() {
    this.#stream.close();
  }

  /**
   * Waits until the browser has the cookie of `me`. Without it, two simultaneous first requests would have two callers.
   */
  #callerIsKnown() {
    if (!this.#cookies.credentials) return Promise.resolve();
    const server = this.#url.slice(0, this.#url.indexOf("/v1/apps/"));
    if (!callers.has(server)) {
      const options = { ...this.#cookies, method: "HEAD", cache: "no-store" };
      // If the server cannot be reached, the next request tries again.
      callers.set(server, fetch(`${this.#url}/state`, options).catch(() => callers.delete(server)));
    }
    return callers.get(server);
  }

  // The stream.

  /**
   * Opens the stream unless it carries the observers' paths already. Runs once for all observers that come and go in
   * one turn.
   */
  #refresh() {
    if (this.#refreshQueued) return;
    this.#refreshQueued = true;
    this.#callerIsKnown().then(() => {
      this.#refreshQueued = false;
      if (this.#stream.isResting) return;
      if (this.#observers.size === 0) return this.#stream.drop();
      const isCarried = (path) => this.#streamed.some((one) => covers(one, path));
      if (!this.#stream.isOpen || !this.#wanted().every(isCarried)) this.#stream.open();
    });
  }

  /** The address of the stream with the observers' paths, continuing at the local copy's cursor. */
  #address() {
    const paths = this.#wanted();
    const query = paths.filter((path) => path !== "").map((path) => `path=${encodeURIComponent(path)}`);
    const cursor = this.#cursor !== null && this.#knows(paths) ? this.#cursor : null;
    if (cursor !== null) {
      // A resumed stream has no changes of other paths, so their local values become outdated.
      this.#known = paths;
      query.push(`cursor=${encodeURIComponent(cursor)}`);
    }
    this.#streamed = paths;
    return `${this.#url}/changes${query.length > 0 ? "?" : ""}${query.join("&")}`;
  }

  #take(name, content, cursor) {
    const before = this.#root;
    this.#root = name === "change" ? applyAll(before, content.changes) : this.#replaced(content.values);
    this.#cursor = cursor === "" ? this.#cursor : cursor;
    this.#version = content.version;
    if (name !== "change") this.#known = this.#streamed;
    for (const observer of [...this.#observers]) {
      const changes = name === "change"
        ? content.changes.filter((change) => observer.paths.some((path) => overlaps(path, change.path)))
        : differences(before, this.#root, observer.paths);
      if (changes.length > 0 || name !== "change") this.#notify(observer, name, changes);
    }
  }

  /** The local copy after a snapshot. Values at the stream's paths that the snapshot does not have are removed. */
  #replaced(values) {
    const places = this.#streamed.flatMap((path) => expand(this.#root, path).map(([place]) => place));
    const cleared = places.filter((place) => !Object.hasOwn(values, place)).reduce(remove, this.#root);
    return Object.entries(values).reduce((root, [path, value]) => set(root, path, value), cleared);
  }

  // Observers.

  /** The smallest set of paths that covers the paths of all observers. */
  #wanted() {
    const all = [...new Set([...this.#observers].flatMap((observer) => observer.paths))];
    const widest = all.filter((path) => !all.some((other) => other !== path && covers(other, path)));
    return widest.length > pathsMax ? [""] : widest;
  }

  #knows(paths) {
    return paths.every((path) => this.#known.some((known) => covers(known, path)));
  }

  #notify({ paths, callback }, event, changes) {
    const values = Object.fromEntries(paths.flatMap((path) => expand(this.#root, path)));
    attempt(() => callback(values, { event, version: this.#version, cursor: this.#cursor, changes }));
  }
}

/** The differences between two copies at an observer's paths, as changes. */
function differences(before, after, paths) {
  const places = new Set(paths.flatMap((path) => [...expand(before, path), ...expand(after, path)].map(([place]) => place)));
  return [...places].flatMap((path) => {
    const value = get(after, path);
    if (equal(get(before, path), value)) return [];
    return [value === undefined ? { op: "remove", path } : { op: "replace", path, value }];
  });
}
