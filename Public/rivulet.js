// The browser's end of a session: one event stream that heals itself, a local copy of the watched paths, and dispatch.

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

/** The most `path=` queries that the server takes; with more, the stream carries the whole state. */
const pathsMax = 64;

/**
 * @typedef {object} Options
 * @property {string} app the hosted app's name, such as `"counter"`
 * @property {string} session the session's id, `[A-Za-z0-9_-]{1,128}`
 * @property {string} [base] where the server is, such as `"https://example.org"`; this page's own server when left out
 * @property {boolean} [shared] one stream for all pages of the browser that watch this session, where there are shared workers
 */

/**
 * What happened to the values of an observer.
 *
 * @typedef {object} Update
 * @property {"snapshot" | "change" | "reset" | "local"} event `local`: values that were here already when it subscribed
 * @property {number} version the durable version of the session
 * @property {string | null} cursor
 * @property {Change[]} changes those that concern the observer, in the server's order
 */

/**
 * The answer to a dispatch: the changes it committed, and what a wrapper altered on the way.
 *
 * @typedef {object} Answer
 * @property {number} version
 * @property {string} cursor
 * @property {boolean} durable true: it was on disk before the server answered
 * @property {Change[]} changes
 * @property {{path: string, from: Json, to: Json}[]} [coerced]
 */

/**
 * Opens a session. Nothing is asked of the server before the first `observe`, `dispatch` or `state`. A stream that is lost is opened
 * again by itself, after at most 2 s in the first half minute and 5 s later on; while the page is hidden it may take longer.
 *
 *     const session = connect({ app: "counter", session: "demo" });
 *     session.observe("/p/count", (values) => console.log(values["/p/count"]));
 *     await session.dispatch("increment");
 *
 * Integers beyond 2^53 lose their last digits in JavaScript's JSON; keep such values in strings.
 *
 * @param {Options} options
 * @returns {Session}
 */
export function connect(options) {
  return new Session(options);
}

/** @type {Map<string, Promise<unknown>>} The first request for `me` on each server. Its answer brings the cookie that names the caller. */
const callers = new Map();

/** One session of one app. Make it with {@link connect}. */
export class Session {
  #url;
  /** @type {Json | undefined} The local copy: what is known of the state, by its own shape. */
  #root;
  /** @type {string | null} */
  #cursor = null;
  #version = 0;
  /** @type {string[]} The paths whose values the local copy has. */
  #known = [];
  /** @type {string[]} The paths of the open stream. */
  #streamed = [];
  /** @type {Set<{paths: string[], callback: (values: {[path: string]: Json}, update: Update) => void}>} */
  #observers = new Set();
  #refreshQueued = false;
  /** @type {RequestInit} The caller's own session is named by a cookie, which goes to another origin only on demand. */
  #cookies;
  #stream;

  /** @param {Options} options */
  constructor({ shared = false, ...options }) {
    const { app, session, base = "" } = options;
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(session ?? "")) {
      throw new TypeError(`connect needs a session of 1 to 128 letters, digits, "_" and "-"; found ${JSON.stringify(session) ?? "none"}`);
    }
    if (!app) throw new TypeError("connect needs the name of an app");
    this.#cookies = session === "me" ? { credentials: "include" } : {};
    this.#stream = new Stream({
      names: ["snapshot", "change", "reset"],
      address: () => this.#address(),
      take: (name, content, cursor) => this.#take(name, content, cursor),
      forget: () => (this.#cursor = null),
      source: (url) =>
        shared && canShare()
          ? new SharedSource("session", { ...options, paths: this.#streamed })
          : new EventSource(url, { withCredentials: session === "me" }),
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
   * Watches key paths. The callback gets the current values as soon as they are known, then again after every event that
   * touched them: first all values by path (a path that holds nothing is absent), then what changed. Values are never altered:
   * what a change did not touch is the same object (`===`) as before, such as the other elements of a collection.
   *
   * All observers of a session share one stream. A path that the stream does not carry yet opens it anew, with a snapshot: a
   * resumed stream would only tell what changes from now on. Until the snapshot is here, every local value stays.
   *
   * @param {string | string[]} paths JSON Pointers; a token `*` stands for any one token
   * @param {(values: {[path: string]: Json}, update: Update) => void} callback
   * @returns {() => void} ends the observation
   * @throws {SyntaxError} when a path is no JSON Pointer
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
   * @throws {RivuletError} when it was refused, or when no answer came: then it may or may not have been accepted
   */
  async dispatch(event) {
    await this.#callerIsKnown();
    const response = await request(`${this.#url}/events`, { ...sending("POST", event), ...this.#cookies });
    return response.json();
  }

  /**
   * Asks the server for the value at a key path, past the local copy.
   *
   * @param {string} [path] `""`: the whole state
   * @returns {Promise<{value: Json, version: number, cursor: string}>}
   * @throws {RivuletError | SyntaxError}
   */
  async state(path = "") {
    tokens(path);
    const place = path.split("/").map(encodeURIComponent).join("/");
    await this.#callerIsKnown();
    const response = await request(`${this.#url}/state${place}`, { cache: "no-store", ...this.#cookies });
    return {
      value: await response.json(),
      version: Number(response.headers.get("Rivulet-Version")),
      // The tag of a compressed answer is the cursor with a mark.
      cursor: (response.headers.get("ETag") ?? "").replaceAll('"', "").replace(/-gzip$/, ""),
    };
  }

  /**
   * The local value at a key path, or `undefined` when it is not known.
   *
   * @param {string} path
   * @returns {Json | undefined}
   */
  value(path) {
    return get(this.#root, path);
  }

  /**
   * Tells where the stream stands: now, and whenever that changes.
   *
   * @param {(connection: Connection) => void} callback
   * @returns {() => void} ends it
   */
  onConnection(callback) {
    return this.#stream.onConnection(callback);
  }

  /**
   * Tells every event that the stream brings, after the local copy has taken it in.
   *
   * @param {(event: WireEvent) => void} callback
   * @returns {() => void} ends it
   */
  onEvent(callback) {
    return this.#stream.onEvent(callback);
  }

  /** Opens the stream now, without waiting for the back-off; also after `close`. */
  reconnect() {
    this.#stream.reconnect();
  }

  /** Ends the stream for good. Local values stay readable. */
  close() {
    this.#stream.close();
  }

  /** Waits until the browser has the cookie of `me`: two first requests at once would come from two callers. */
  #callerIsKnown() {
    if (!this.#cookies.credentials) return Promise.resolve();
    const server = this.#url.slice(0, this.#url.indexOf("/v1/apps/"));
    if (!callers.has(server)) {
      const options = { ...this.#cookies, method: "HEAD", cache: "no-store" };
      // A server that cannot be reached is asked again by the next request.
      callers.set(server, fetch(`${this.#url}/state`, options).catch(() => callers.delete(server)));
    }
    return callers.get(server);
  }

  // The stream.

  /** Opens the stream, once for all the observers that come and go in one turn, unless it carries their paths already. */
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

  /** Where the stream of what the observers want is, from where the local copy stands. */
  #address() {
    const paths = this.#wanted();
    const query = paths.filter((path) => path !== "").map((path) => `path=${encodeURIComponent(path)}`);
    const cursor = this.#cursor !== null && this.#knows(paths) ? this.#cursor : null;
    if (cursor !== null) {
      // Of other paths a resumed stream does not tell what changes: their local values grow old.
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

  /** The local copy with a snapshot taken in: what the stream watches and the snapshot does not have is gone. */
  #replaced(values) {
    const places = this.#streamed.flatMap((path) => expand(this.#root, path).map(([place]) => place));
    const cleared = places.filter((place) => !Object.hasOwn(values, place)).reduce(remove, this.#root);
    return Object.entries(values).reduce((root, [path, value]) => set(root, path, value), cleared);
  }

  // Observers.

  /** The fewest paths that carry what all the observers want. */
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

/** What differs between two copies at the paths of an observer, as changes. */
function differences(before, after, paths) {
  const places = new Set(paths.flatMap((path) => [...expand(before, path), ...expand(after, path)].map(([place]) => place)));
  return [...places].flatMap((path) => {
    const value = get(after, path);
    if (equal(get(before, path), value)) return [];
    return [value === undefined ? { op: "remove", path } : { op: "replace", path, value }];
  });
}
