// An event stream that heals itself: it is opened again after a growing wait, and given back while nobody sees the page.

import { RivuletError, refusal } from "./request.js";

/** The first wait before a lost stream is opened again; it doubles with each attempt that fails. */
const backoffFirstMilliseconds = 400;
/** No wait is longer than this in the time after the stream was lost, in which most servers come back: restarts are short. */
const soonMaxMilliseconds = 2_000;
const soonMilliseconds = 30_000;
/** No wait is longer than this later on, while somebody sees the page. */
const backoffMaxMilliseconds = 5_000;
/** No wait is longer than this while nobody sees the page. One that is seen again does not wait. */
const unseenMaxMilliseconds = 20_000;
/** A stream that lived this long was a success: the next wait is the first one again. */
const steadyMilliseconds = 5_000;
/** A page that nobody sees gives its stream back after this time: a browser allows six per server over HTTP/1.1. */
const hiddenMilliseconds = 30_000;
/** 4xx answers that may pass by themselves: slow request, a page of a list that is gone, too early, rate limit. */
const passingStatuses = [408, 410, 425, 429];

/**
 * Where a stream stands.
 *
 * @typedef {object} Connection
 * @property {"connecting" | "live" | "reconnecting" | "paused" | "closed"} state `paused`: given back while the page is
 *   hidden; `closed`: it does not come back by itself
 * @property {number} attempt failed attempts since the stream was last live
 * @property {number | null} retryAt when the next attempt begins, in milliseconds since 1970; null: none is waiting
 * @property {string | null} reason why the last stream ended, as the server's `bye` or the problem document says it
 */

/**
 * One event as it came over the wire.
 *
 * @typedef {object} WireEvent
 * @property {string} name such as `snapshot`, `change`, `reset` or `bye`
 * @property {string} cursor
 * @property {string} data
 * @property {number} bytes the size of `data` in UTF-8
 * @property {Date} at
 */

/**
 * What a stream is opened with, and who takes in what it brings.
 *
 * @typedef {object} Handlers
 * @property {string[]} names of its events; `bye` is the stream's own
 * @property {() => string} address where it is, asked anew for each attempt: with a cursor it goes on where the last one ended
 * @property {(name: string, content: any, cursor: string) => void} take takes in one event
 * @property {() => void} forget an event could not be read, or `take` threw: the next address is to begin anew
 * @property {(signal: AbortSignal) => Promise<void>} [prepare] what has to be done before the address is asked for
 * @property {(url: string) => EventSource} [source] makes what brings the events; an EventSource of its own when left out
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
  /** @type {AbortController | null} Ends what goes on before the source is there. */
  #preparing = null;
  #openedAt = 0;
  /** When the stream was lost: the first of the attempts that failed in a row. */
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

  /** Whether it is for somebody else to open it: it waits for an attempt, the page is hidden, or it was closed. */
  get isResting() {
    const { state, retryAt } = this.#connection;
    return state === "closed" || state === "paused" || retryAt !== null;
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
   * Tells every event that the stream brings, after it was taken in.
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

  /** Opens the stream now, without waiting for the back-off; also after `close`. */
  reconnect() {
    if (this.#listening.signal.aborted) this.#listenToPage();
    this.#become({ state: "reconnecting", attempt: 0, retryAt: null });
    this.open();
  }

  /** Lets go of the stream: nobody wants what it brings. */
  drop() {
    this.#drop();
    const { state } = this.#connection;
    if (state === "live" || state === "reconnecting") this.#become({ state: "connecting", retryAt: null });
  }

  /** Opens the stream anew after the back-off: what is here cannot be gone on from. */
  again() {
    this.#retry(this.#backoff());
  }

  /**
   * What the stream needs was refused: a refusal that would be the same next time ends it.
   *
   * @param {unknown} error
   */
  fail(error) {
    if (error instanceof RivuletError && isFinal(error.status)) return this.#end(error.message);
    if (!(error instanceof RivuletError)) reportError(error);
    this.again();
  }

  /** Ends the stream for good. */
  close() {
    this.#end("client");
    this.#listening.abort();
  }

  /** Whether it is open, is being opened, or waits for its next attempt: a stream that nobody asked for is not opened when the page is seen. */
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

  /** Takes in one event. One that cannot be read ends the stream. */
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

  /** The server said why it closes, and whether to come back. */
  #leave({ reason, reconnect, after }) {
    if (!reconnect) return this.#end(reason);
    this.#become({ reason });
    this.#retry(Math.max(after ?? 0, this.#connection.attempt > 0 ? this.#backoff() : 0));
  }

  /**
   * The stream broke. A browser does not show the status of a refused stream, so a refusal is asked for once more: only an
   * answer that would be the same next time ends it, all others are tried again.
   */
  async #lost(source, url, refused) {
    const steady = this.#openedAt > 0 && Date.now() - this.#openedAt > steadyMilliseconds;
    this.#drop();
    if (steady) this.#become({ attempt: 0 });
    this.again();
    if (!refused) return;

    const waiting = this.#timer;
    const question = new AbortController();
    try {
      const credentials = source.withCredentials ? "include" : "same-origin";
      const headers = { Accept: "text/event-stream" };
      const response = await fetch(url, { headers, credentials, signal: question.signal });
      const reason = response.status === 204 ? "deleted" : isFinal(response.status) ? (await refusal(response)).message : null;
      if (reason !== null && this.#timer === waiting) this.#end(reason);
    } catch {
      // No answer at all: the attempt that already waits is the right one.
    } finally {
      question.abort();
    }
  }

  /** Lets go of the stream, and forgets an attempt that waits. */
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

  /** A network that is back, or a page that is seen again, is a reason not to wait any longer. */
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
 * The wait before a stream is opened again, in milliseconds. It doubles with each failed attempt from 400 ms on, and is at most 2 s in
 * the half minute after the loss, then 5 s, or 20 s while the page is hidden. Chance takes up to a half of it away, so that a thousand
 * pages do not come back at once.
 *
 * @param {number} attempt failed attempts since the stream was last live
 * @param {number} lostMilliseconds the time since then
 * @param {boolean} isHidden whether nobody sees the page
 * @returns {number}
 */
export function backoff(attempt, lostMilliseconds, isHidden) {
  const most = isHidden ? unseenMaxMilliseconds : lostMilliseconds < soonMilliseconds ? soonMaxMilliseconds : backoffMaxMilliseconds;
  const whole = Math.min(backoffFirstMilliseconds * 2 ** attempt, most);
  return Math.round(whole * (0.5 + Math.random() / 2));
}

/** Whether a refusal would be the same next time. */
function isFinal(status) {
  return status >= 400 && status < 500 && !passingStatuses.includes(status);
}

/**
 * Runs a callback of the page; its fault is reported and stops nobody else.
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
