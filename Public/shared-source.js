// A page's end of a stream that all pages of the browser share: what an EventSource is to a stream, over a worker.

/** A worker that could not be loaded is not tried again by this page. */
let isBroken = false;

/**
 * Whether streams can be shared here; where they cannot, each page has its own. A browser starts a shared worker of a page's own origin only, so a
 * page that imports this module from another server has its own streams.
 */
export function canShare() {
  return "SharedWorker" in globalThis && !isBroken && new URL(import.meta.url).origin === globalThis.origin;
}

/**
 * One stream of the worker: as much of an EventSource as a `Stream` uses. Its first event has everything that is known.
 *
 * A browser has six connections to a server over HTTP/1.1, for all its pages together, and a stream holds one of them.
 */
export class SharedSource extends EventTarget {
  readyState = EventSource.CONNECTING;
  onopen = () => {};
  onerror = () => {};
  #port;
  #isLeft = new AbortController();

  /**
   * @param {"session" | "store" | "value"} kind
   * @param {object} options what `connect`, `followStore` or `followValue` takes, and the paths of a session
   */
  constructor(kind, options) {
    super();
    const worker = new SharedWorker(new URL("shared-worker.js", import.meta.url), { type: "module", name: "rivulet" });
    worker.onerror = () => {
      isBroken = true;
      this.#fail(EventSource.CONNECTING);
    };
    this.#port = worker.port;
    this.#port.onmessage = ({ data }) => this.#receive(data);
    this.#port.postMessage({ kind, options });
    // A page that goes is not missed by a worker that other pages keep.
    addEventListener("pagehide", () => this.#fail(EventSource.CONNECTING), { signal: this.#isLeft.signal });
  }

  close() {
    if (this.readyState === EventSource.CLOSED) return;
    this.readyState = EventSource.CLOSED;
    this.#leave();
  }

  #receive({ state, name, data, cursor }) {
    // What was on its way when this end was closed is for nobody.
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
