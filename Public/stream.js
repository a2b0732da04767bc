// An event stream that reconnects by itself: it is opened again after a growing wait, and closed while the page is
// hidden.

import { RivuletError, refusal } from "./request.js";

/** The first wait before a lost stream is opened again. It doubles with each failed attempt. */
const backoffFirstMilliseconds = 400;
/**
 * The longest wait in the time after the loss of the stream. Most servers return in this time, because restarts are
 * short.
 */
const soonMaxMilliseconds = 2_000;
const soonMilliseconds = 30_000;
/** The longest wait later on, while the page is visible. */
const backoffMaxMilliseconds = 5_000;
/** The longest wait while the page is hidden. A page that becomes visible again does not wait. */
const unseenMaxMilliseconds = 20_000;
/** A stream that was open for this time counts as a success: the next wait is the first one again. */
const steadyMilliseconds = 5_000;
/**
 * A hidden page closes its stream after this time, because a browser allows six connections per server over HTTP/1.1.
 */
const hiddenMilliseconds = 30_000;
/** 4xx answers that may be temporary: slow request, a page of a list that is gone, too early, rate limit. */
const passingStatuses = [408, 410, 425, 429];

/**
 * The state of a stream.
 *
 * @typedef {object} Connection
 * @property {"connecting" | "live" | "reconnecting" | "paused" | "closed"} state `paused`: closed while the page is
 *   hidden; `closed`: it does not reopen by itself
 * @property {number} attempt failed attempts since the stream was last live
 * @property {number | null} retryAt the time of the next attempt, in milliseconds since 1970; null if none is scheduled
 * @property {string | null} reason the reason of the last stream's end, from the server's `bye` or the problem document
 */

/**
 * One event as it was received.
 *
 * @typedef {object} WireEvent
 * @property {string} name such as `snapshot`, `change`, `reset` or `bye`
 * @property {string} cursor
 * @property {string} data
 * @property {number} bytes the size of `data` in UTF-8
 * @property {Date} at
 */

/**
 * The functions that open a stream and handle its events.
 *
 * @typedef {object} Handlers
 * @property {string[]} names the names of its events; the stream itself handles `bye`
 * @property {() => string} address the address for the next attempt; with a cursor, it continues at the end of the last
 *   stream
 * @property {(name: string, content: any, cursor: string) => void} take handles one event
 * @property {() => void} forget called if an event could not be read, or if `take` threw; the next address must begin
 *   anew
 * @property {(signal: AbortSignal) => Promise<void>} [prepare] runs before `address` is called
 * @property {(url: string) => EventSource} [source] creates the source of events; by default an EventSource. A source
 *   with a `refusal` says why the server refused it
 */

/** A stream, closed until `open`. */
export class Stream {
  #handlers;
  /** @type {Set<(connection: Connection) => void>} */
  #connectionListeners = new Set();
  /** @type {Set<(event: WireEvent) => void>} */
  #eventListeners = new Set();
  /** @type {EventSource | null} */
  #source = null;
  /** @type {AbortController | null} Cancels the preparation before the source exists. */
  #preparing = null;
  #openedAt = 0;
  /** The time of the loss: the first of the consecutive failed attempts. */
  #lostAt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #hiddenTimer;
  /** @type {Connection} */
  #connection = { state: "connecting", attempt: 0, retryAt: null, reason: null };
  #listening = new AbortController();

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#listenToPage();
  }

  /** @returns {Connection} */
  get connection() {
    return this.#connection;
  }

  get isOpen() {
    return this.#source !== null;
  }

  /** True if an observer must not open it: an attempt is scheduled, the page is hidden, or the stream was closed. */
  get isResting() {
    const { state, retryAt } = this.#connection;
    return state === "closed" || state === "paused" || retryAt !== null;
  }

  /**
   * Reports the state of the stream: now, and after each change.
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
   * Reports every event of the stream, after it was handled.
   *
   * @param {(event: WireEvent) => void} callback
   * @returns {() => void} ends it
   */
  onEvent(callback) {
    this.#eventListeners.add(callback);
    return () => this.#eventListeners.delete(callback);
  }

  /** Opens the stream, in place of one that is open. */
  open() {
    this.#drop();
    if (this.#handlers.prepare === undefined) return this.#connect();
    const { signal } = (this.#preparing = new AbortController());
    this.#handlers.prepare(signal).then(
      () => !signal.aborted && this.#connect(),
      (error) => !signal.aborted && this.fail(error),
    );
  }

  /** Opens the stream now, without the back-off. Also works after `close`. */
  reconnect() {
    if (this.#listening.signal.aborted) this.#listenToPage();
    this.#become({ state: "reconnecting", attempt: 0, retryAt: null });
    this.open();
  }

  /** Closes the stream, because it has no observers. */
  drop() {
    this.#drop();
    const { state } = this.#connection;
    if (state === "live" || state === "reconnecting") this.#become({ state: "connecting", retryAt: null });
  }

  /** Opens the stream again after the back-off, because the local copy cannot be continued. */
  again() {
    this.#retry(this.#backoff());
  }

  /**
   * Handles a failed preparation. A refusal that would be the same next time closes the stream.
   *
   * @param {unknown} error
   */
  fail(error) {
    const reason = error instanceof RivuletError ? finalReason(error) : null;
    if (reason !== null) return this.#end(reason);
    if (!(error instanceof RivuletError)) reportError(error);
    this.again();
  }

  /** Closes the stream permanently. */
  close() {
    this.#end("client");
    this.#listening.abort();
  }

  /**
   * True if it is open, is being opened, or has a scheduled attempt. Other streams are not opened when the page becomes
   * visible.
   */
  get #isAtWork() {
    return this.isOpen || this.#preparing !== null || this.#connection.retryAt !== null;
  }

  #connect() {
    const url = this.#handlers.address();
    const source = this.#handlers.source?.(url) ?? new EventSource(url);
    this.#preparing = null;
    this.#source = source;
    this.#openedAt = 0;
    source.onopen = () => {
      this.#openedAt = Date.now();
      this.#become({ state: "live", retryAt: null, reason: null });
    };
    source.onerror = () => this.#lost(source, url, source.readyState === EventSource.CLOSED && this.#openedAt === 0);
    for (const name of [...this.#handlers.names, "bye"]) {
      source.addEventListener(name, (event) => this.#receive(name, event.data, event.lastEventId));
    }
  }

  /** Handles one event. An event that cannot be read ends the stream. */
  #receive(name, data, cursor) {
    try {
      const content = JSON.parse(data);
      if (name === "bye") this.#leave(content);
      else this.#handlers.take(name, content, cursor);
    } catch (error) {
      reportError(new RivuletError(`The stream's "${name}" event cannot be read.`, { cause: error }));
      this.#handlers.forget();
      this.again();
      return;
    }
    if (name !== "bye" && this.isOpen && this.#connection.attempt > 0) this.#become({ attempt: 0 });
    const event = { name, cursor, data, bytes: new TextEncoder().encode(data).length, at: new Date() };
    this.#eventListeners.forEach((listener) => attempt(() => listener(event)));
  }

  /** Handles the server's reason for the end, and its advice about reconnecting. */
  #leave({ reason, reconnect, after }) {
    if (!reconnect) return this.#end(reason);
    this.#become({ reason });
    this.#retry(Math.max(after ?? 0, this.#connection.attempt > 0 ? this.#backoff() : 0));
  }

  /**
   * Handles a broken stream. An EventSource does not show the status of a refused stream, so the request is sent once
   * more with fetch. Only an answer that would be the same next time closes the stream. After all others, it is tried
   * again.
   */
  async #lost(source, url, refused) {
    const steady = this.#openedAt > 0 && Date.now() - this.#openedAt > steadyMilliseconds;
    this.#drop();
    if (steady) this.#become({ attempt: 0 });
    const reason = finalReason(source.refusal);
    if (reason !== null) return this.#end(reason);
    this.again();
    if (source.refusal !== undefined) this.#become({ reason: source.refusal.message });
    if (!refused || source.refusal !== undefined) return;

    const waiting = this.#timer;
    const question = new AbortController();
    try {
      const credentials = source.withCredentials ? "include" : "same-origin";
      const headers = { Accept: "text/event-stream" };
      const response = await fetch(url, { headers, credentials, signal: question.signal });
      const reason = response.ok && response.status !== 204 ? null : finalReason(await refusal(response));
      if (reason !== null && this.#timer === waiting) this.#end(reason);
    } catch {
      // No answer came. The scheduled attempt remains.
    } finally {
      question.abort();
    }
  }

  /** Closes the stream, and cancels a scheduled attempt. */
  #drop() {
    clearTimeout(this.#timer);
    this.#preparing?.abort();
    this.#preparing = null;
    this.#source?.close();
    this.#source = null;
  }

  #retry(milliseconds) {
    this.#drop();
    if (this.#connection.attempt === 0) this.#lostAt = Date.now();
    this.#become({ state: "reconnecting", attempt: this.#connection.attempt + 1, retryAt: Date.now() + milliseconds });
    this.#timer = setTimeout(() => {
      this.#become({ retryAt: null });
      this.open();
    }, milliseconds);
  }

  #backoff() {
    const { attempt } = this.#connection;
    return backoff(attempt, attempt === 0 ? 0 : Date.now() - this.#lostAt, globalThis.document?.hidden ?? false);
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

  /** Ends the wait if the network returns, or if the page becomes visible again. */
  #listenToPage() {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const soon = () => {
      if (this.#connection.state === "paused" || this.#connection.retryAt !== null) this.reconnect();
    };
    const pause = () => {
      if (!this.#isAtWork) return;
      this.#drop();
      this.#become({ state: "paused", retryAt: null });
    };
    globalThis.addEventListener?.("online", soon, { signal });
    globalThis.document?.addEventListener("visibilitychange", () => {
      clearTimeout(this.#hiddenTimer);
      if (!document.hidden) soon();
      else if (this.#isAtWork) this.#hiddenTimer = setTimeout(pause, hiddenMilliseconds);
    }, { signal });
  }
}

/**
 * The wait before a stream is opened again, in milliseconds. It doubles with each failed attempt from 400 ms on. It is
 * at most 2 s in the half minute after the loss, and 5 s later. While the page is hidden, it is at most 20 s. The wait
 * is shortened by a random part of up to a half, so that a thousand pages do not reconnect at once.
 *
 * @param {number} attempt failed attempts since the stream was last live
 * @param {number} lostMilliseconds the time since then
 * @param {boolean} isHidden true if the page is hidden
 * @returns {number}
 */
export function backoff(attempt, lostMilliseconds, isHidden) {
  const most = isHidden ? unseenMaxMilliseconds : lostMilliseconds < soonMilliseconds ? soonMaxMilliseconds : backoffMaxMilliseconds;
  const whole = Math.min(backoffFirstMilliseconds * 2 ** attempt, most);
  return Math.round(whole * (0.5 + Math.random() / 2));
}

/** The reason of a refusal that would be the same next time; null for all others. */
function finalReason(error) {
  const status = error?.status ?? 0;
  if (status === 204) return "deleted";
  if (status === 401) return "unauthorized";
  return status >= 400 && status < 500 && !passingStatuses.includes(status) ? error.message : null;
}

/**
 * Runs a callback of the page. Its error is reported and affects no other callback.
 *
 * @param {() => void} callback
 */
export function attempt(callback) {
  try {
    callback();
  } catch (error) {
    reportError(error);
  }
}
