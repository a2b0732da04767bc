// A page's end of a stream that all pages of the browser share: an EventSource over a worker.

/** True after the worker could not be loaded. This page does not try again. */
let isBroken = false;

/**
 * True if streams can be shared here. Otherwise each page has its own streams. A browser only starts a shared worker of
 * a page's own origin. So a page that imports this module from another server has its own streams.
 */
export function canShare() {
  return "SharedWorker" in globalThis && !isBroken && new URL(import.meta.url).origin === globalThis.origin;
}

/**
 * One stream of the worker, with the parts of an EventSource that a `Stream` uses. Its first event has all known
 * values.
 *
 * A browser has six connections to a server over HTTP/1.1, for all its pages together, and a stream holds one of them.
 */
export class SharedSource extends EventTarget {
  readyState = EventSource.CONNECTING;
  onopen = () => {};
  onerror = () => {};
  /** @type {Error | undefined} The failure of the page's credential function. */
  refusal;
  #port;
  #isLeft = new AbortController();

  /**
   * @param {"session" | "store" | "value"} kind
   * @param {object} options the options of `connect`, `followStore` or `followValue`, and the paths of a session
   * @param {import("./credential.js").Credential} [credential] the worker asks for its token
   */
  constructor(kind, options, credential) {
    super();
    const worker = new SharedWorker(new URL("shared-worker.js", import.meta.url), { type: "module", name: "rivulet" });
    worker.onerror = () => {
      isBroken = true;
      this.#fail(EventSource.CONNECTING);
    };
    this.#port = worker.port;
    this.#port.onmessage = ({ data }) => (data.question === undefined ? this.#receive(data) : this.#answer(data, credential));
    this.#begin(kind, options, credential);
    // A worker that other pages keep alive does not notice the end of this page.
    addEventListener("pagehide", () => this.#fail(EventSource.CONNECTING), { signal: this.#isLeft.signal });
  }

  close() {
    if (this.readyState === EventSource.CLOSED) return;
    this.readyState = EventSource.CLOSED;
    this.#leave();
  }

  /** Names the stream to the worker. Streams of different callers are never shared. */
  async #begin(kind, options, credential) {
    try {
      const caller = credential === undefined ? null : await credential.identity();
      if (this.readyState === EventSource.CONNECTING) this.#port.postMessage({ kind, options, caller });
    } catch (error) {
      if (!(error.cause instanceof TypeError)) this.refusal = error;
      if (this.readyState === EventSource.CONNECTING) this.#fail(EventSource.CONNECTING);
    }
  }

  /** Sends the worker a token; null if there is none. */
  async #answer({ question, refused }, credential) {
    let answer = { token: null, error: null };
    try {
      answer.token = refused === undefined ? await credential.token() : await credential.replace(refused);
    } catch (error) {
      answer.error = error.message;
    }
    this.#port.postMessage({ question, ...answer });
  }

  #receive({ state, name, data, cursor }) {
    // An event that was sent before this end closed is dropped.
    if (this.readyState === EventSource.CLOSED) return;
    if (name !== undefined) return this.dispatchEvent(new MessageEvent(name, { data, lastEventId: cursor }));
    if (state === "live" && this.readyState === EventSource.CONNECTING) {
      this.readyState = EventSource.OPEN;
      this.onopen();
    } else if (state === "closed") this.#fail(EventSource.CLOSED);
    else if (state !== "live" && this.readyState === EventSource.OPEN) this.#fail(EventSource.CONNECTING);
  }

  #fail(readyState) {
    this.readyState = readyState;
    this.#leave();
    this.onerror();
  }

  #leave() {
    this.#isLeft.abort();
    this.#port.postMessage(null);
    this.#port.close();
  }
}
