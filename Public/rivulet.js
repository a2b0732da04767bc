// Part of Rivulet. See README.md for the architecture.
// The browser's end of a session: one event stream that heals itself, a local copy of the watched paths, and dispatch.

import { applyAll, covers, equal, expand, get, overlaps, remove, set, tokens } from "./pointer.js";

export * from "./pointer.js";

/** @typedef {import("./pointer.js").Json} Json */
/** @typedef {import("./pointer.js").Change} Change */

/** The first wait before a lost stream is opened again; it doubles with each attempt that fails. */
const backoffFirstMilliseconds = 400;
/** No wait is longer than this. */
const backoffMaxMilliseconds = 20_000;
/** A stream that lived this long was a success: the next wait is the first one again. */
const steadyMilliseconds = 5_000;
/** A page that nobody sees gives its stream back after this time: a browser allows six per server over HTTP/1.1. */
const hiddenMilliseconds = 30_000;
/** The most `path=` queries that the server takes; with more, the stream carries the whole state. */
const pathsMax = 64;
/** 4xx answers that may pass by themselves: slow request, too early, rate limit. */
const passingStatuses = [408, 425, 429];

/**
 * @typedef {object} Options
 * @property {string} app the hosted app's name, such as `"counter"`
 * @property {string} session the session's id, `[A-Za-z0-9_-]{1,128}`
 * @property {string} [base] where the server is, such as `"https://example.org"`; this page's own server when left out
 */

/**
 * Where the stream stands.
 *
 * @typedef {object} Connection
 * @property {"connecting" | "live" | "reconnecting" | "paused" | "closed"} state `paused`: given back while the page is
 *   hidden; `closed`: it does not come back by itself
 * @property {number} attempt failed attempts since the stream was last live
 * @property {number | null} retryAt when the next attempt begins, in milliseconds since 1970; null: none is waiting
 * @property {string | null} reason why the last stream ended, as the server's `bye` or the problem document says it
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
 * One event as it came over the wire.
 *
 * @typedef {object} WireEvent
 * @property {"snapshot" | "change" | "reset" | "bye"} name
 * @property {string} cursor
 * @property {string} data
 * @property {number} bytes the size of `data` in UTF-8
 * @property {Date} at
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
 * Opens a session. Nothing is asked of the server before the first `observe`, `dispatch` or `state`.
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

/** What a request failed with. `status` is 0 when no answer came at all; `problem` is the RFC 9457 document, if there is one. */
export class RivuletError extends Error {
  /**
   * @param {string} message
   * @param {{status?: number, problem?: {[name: string]: any} | null, cause?: unknown}} [details]
   */
  constructor(message, { status = 0, problem = null, cause } = {}) {
    super(message, { cause });
    this.name = "RivuletError";
    this.status = status;
    this.problem = problem;
  }
}

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
  /** @type {Set<(connection: Connection) => void>} */
  #connectionListeners = new Set();
  /** @type {Set<(event: WireEvent) => void>} */
  #eventListeners = new Set();
  /** @type {EventSource | null} */
  #source = null;
  #openedAt = 0;
  #refreshQueued = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hiddenTimer;
  /** @type {Connection} */
  #connection = { state: "connecting", attempt: 0, retryAt: null, reason: null };
  #listening = new AbortController();

  /** @param {Options} options */
  constructor({ app, session, base = "" }) {
    this.#url = `${base.replace(/\/$/, "")}/v1/apps/${encodeURIComponent(app)}/sessions/${encodeURIComponent(session)}`;
    this.#listenToPage();
  }

  /** The address of the session's resource, without a slash at its end. */
  get url() {
    return this.#url;
  }

  /** @returns {Connection} */
  get connection() {
    return this.#connection;
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
    const response = await this.#fetch("/events", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(event),
    });
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
    const response = await this.#fetch("/state" + path.split("/").map(encodeURIComponent).join("/"), { cache: "no-store" });
    return {
      value: await response.json(),
      version: Number(response.headers.get("Rivulet-Version")),
      cursor: (response.headers.get("ETag") ?? "").replaceAll('"', ""),
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
    this.#connectionListeners.add(callback);
    callback(this.#connection);
    return () => this.#connectionListeners.delete(callback);
  }

  /**
   * Tells every event that the stream brings, after the local copy has taken it in.
   *
   * @param {(event: WireEvent) => void} callback
   * @returns {() => void} ends it
   */
  onEvent(callback) {
    this.#eventListeners.add(callback);
    return () => this.#eventListeners.delete(callback);
  }

  /** Opens the stream now, without waiting for the back-off; also after `close`. */
  reconnect() {
    if (this.#listening.signal.aborted) this.#listenToPage();
    this.#become({ state: "reconnecting", attempt: 0, retryAt: null });
    this.#open();
  }

  /** Ends the stream for good. Local values stay readable. */
  close() {
    this.#end("client");
    this.#listening.abort();
  }

  // The stream.

  /** Opens the stream, once for all the observers that come and go in one turn, unless it carries their paths already. */
  #refresh() {
    if (this.#refreshQueued) return;
    this.#refreshQueued = true;
    queueMicrotask(() => {
      this.#refreshQueued = false;
      const { state, retryAt } = this.#connection;
      if (state === "closed" || state === "paused" || retryAt !== null) return;
      if (this.#observers.size === 0) return this.#drop();
      if (this.#source !== null && this.#wanted().every((path) => this.#streamed.some((one) => covers(one, path)))) return;
      this.#open();
    });
  }

  #open() {
    this.#drop();
    const paths = this.#wanted();
    const query = paths.filter((path) => path !== "").map((path) => `path=${encodeURIComponent(path)}`);
    const cursor = this.#cursor !== null && this.#knows(paths) ? this.#cursor : null;
    if (cursor !== null) {
      // Of other paths a resumed stream does not tell what changes: their local values grow old.
      this.#known = paths;
      query.push(`cursor=${encodeURIComponent(cursor)}`);
    }
    const url = `${this.#url}/changes${query.length > 0 ? "?" : ""}${query.join("&")}`;

    const source = new EventSource(url);
    this.#source = source;
    this.#streamed = paths;
    this.#openedAt = 0;
    source.onopen = () => {
      this.#openedAt = Date.now();
      this.#become({ state: "live", retryAt: null, reason: null });
    };
    source.onerror = () => this.#lost(url, source.readyState === EventSource.CLOSED && this.#openedAt === 0);
    for (const name of ["snapshot", "change", "reset", "bye"]) {
      source.addEventListener(name, (event) => this.#receive(name, event.data, event.lastEventId));
    }
  }

  /** Closes the stream, and forgets an attempt that waits. */
  #drop() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** Takes in one event. One that cannot be read ends the stream, and the next begins with a snapshot. */
  #receive(name, data, cursor) {
    const before = this.#root;
    try {
      const content = JSON.parse(data);
      if (name === "bye") this.#leave(content);
      else if (name === "change") this.#root = applyAll(before, content.changes);
      else this.#root = this.#replaced(content.values);
      if (name !== "bye") this.#accept(name, content, cursor, before);
    } catch (error) {
      reportError(new RivuletError(`The stream's "${name}" event cannot be read.`, { cause: error }));
      this.#root = before;
      this.#cursor = null;
      this.#retry(this.#backoff());
      return;
    }
    const event = { name, cursor, data, bytes: new TextEncoder().encode(data).length, at: new Date() };
    this.#eventListeners.forEach((listener) => attempt(() => listener(event)));
  }

  #accept(name, content, cursor, before) {
    this.#cursor = cursor === "" ? this.#cursor : cursor;
    this.#version = content.version;
    if (name !== "change") this.#known = this.#streamed;
    if (this.#connection.attempt > 0) this.#become({ attempt: 0 });
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

  /** The server said why it closes, and whether to come back. */
  #leave({ reason, reconnect, after }) {
    if (!reconnect) return this.#end(reason);
    this.#become({ reason });
    this.#retry(Math.max(after ?? 0, this.#connection.attempt > 0 ? this.#backoff() : 0));
  }

  /**
   * The stream broke. A browser does not show the status of a refused stream, so a refusal is asked for once more: only an
   * answer that would be the same next time ends the session, all others are tried again.
   */
  async #lost(url, refused) {
    const steady = this.#openedAt > 0 && Date.now() - this.#openedAt > steadyMilliseconds;
    this.#drop();
    if (steady) this.#become({ attempt: 0 });
    this.#retry(this.#backoff());
    if (!refused) return;

    const waiting = this.#timer;
    const request = new AbortController();
    try {
      const response = await fetch(url, { headers: { Accept: "text/event-stream" }, signal: request.signal });
      const final = response.status >= 400 && response.status < 500 && !passingStatuses.includes(response.status);
      const reason = response.status === 204 ? "deleted" : final ? (await refusal(response)).message : null;
      if (reason !== null && this.#timer === waiting) this.#end(reason);
    } catch {
      // No answer at all: the attempt that already waits is the right one.
    } finally {
      request.abort();
    }
  }

  #retry(milliseconds) {
    this.#drop();
    this.#become({ state: "reconnecting", attempt: this.#connection.attempt + 1, retryAt: Date.now() + milliseconds });
    this.#timer = setTimeout(() => {
      this.#become({ retryAt: null });
      this.#open();
    }, milliseconds);
  }

  /** Exponential, and between a half and the whole of it by chance, so that a thousand pages do not come back at once. */
  #backoff() {
    const whole = Math.min(backoffFirstMilliseconds * 2 ** this.#connection.attempt, backoffMaxMilliseconds);
    return Math.round(whole * (0.5 + Math.random() / 2));
  }

  #end(reason) {
    this.#drop();
    clearTimeout(this.#hiddenTimer);
    this.#become({ state: "closed", retryAt: null, reason });
  }

  #become(change) {
    this.#connection = Object.freeze({ ...this.#connection, ...change });
    this.#connectionListeners.forEach((listener) => attempt(() => listener(this.#connection)));
  }

  /** A network that is back, or a page that is seen again, is a reason not to wait any longer. */
  #listenToPage() {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const soon = () => {
      if (this.#connection.state === "paused" || this.#connection.retryAt !== null) this.reconnect();
    };
    const pause = () => {
      this.#drop();
      this.#become({ state: "paused", retryAt: null });
    };
    globalThis.addEventListener?.("online", soon, { signal });
    globalThis.document?.addEventListener("visibilitychange", () => {
      clearTimeout(this.#hiddenTimer);
      if (!document.hidden) soon();
      else if (this.#connection.state !== "closed") this.#hiddenTimer = setTimeout(pause, hiddenMilliseconds);
    }, { signal });
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

  /** Asks the session's resource, and throws the answer that is not a success. */
  async #fetch(path, options) {
    let response;
    try {
      response = await fetch(this.#url + path, options);
    } catch (error) {
      throw new RivuletError("The server cannot be reached.", { cause: error });
    }
    if (!response.ok) throw await refusal(response);
    return response;
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

/** The error that a refusing answer stands for, with the problem document's own words. */
async function refusal(response) {
  const problem = await response.json().catch(() => null);
  const message = problem?.detail ?? problem?.title ?? `The server answered ${response.status}.`;
  return new RivuletError(message, { status: response.status, problem });
}

/** Runs a callback of the page; its fault is reported and stops nobody else. */
function attempt(callback) {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}
