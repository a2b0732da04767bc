// An event stream over fetch, which can send a token. An EventSource cannot.

import { renewalDelay } from "./credential.js";
import { RivuletError, refusal, sending } from "./request.js";

/** @typedef {import("./credential.js").Credential} Credential */

/** The most characters of one event. A server sends less at once. */
const eventCharactersMax = 2 ** 27;

/**
 * One stream, with the parts of an EventSource that a `Stream` uses. It renews its token before the token expires, so
 * the stream stays open.
 */
export class FetchSource extends EventTarget {
  readyState = EventSource.CONNECTING;
  withCredentials = false;
  onopen = () => {};
  onerror = () => {};
  /** @type {RivuletError | undefined} The refusal of the server, or the failure of the page's credential function. */
  refusal;
  #credential;
  #ended = new AbortController();
  /** The address at which the open stream is changed. */
  #edit = "";
  /** @type {string | null} The token of the stream. */
  #token = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isRenewing = false;

  /**
   * @param {string} url
   * @param {Credential} credential
   */
  constructor(url, credential) {
    super();
    this.#credential = credential;
    this.#run(url).catch((error) => this.#fail(EventSource.CONNECTING, error));
  }

  close() {
    this.readyState = EventSource.CLOSED;
    this.#ended.abort();
    clearTimeout(this.#timer);
  }

  async #run(url) {
    const options = { headers: { Accept: "text/event-stream" }, cache: "no-store", signal: this.#ended.signal };
    const { response, token } = await this.#credential.fetch(url, options);
    if (this.#ended.signal.aborted) return;
    const type = response.headers.get("Content-Type") ?? "";
    if (response.status !== 200 || !type.startsWith("text/event-stream")) {
      this.refusal = await refusal(response);
      return this.#fail(EventSource.CLOSED);
    }
    this.#token = token;
    const link = /<([^>]*)>;\s*rel="edit"/.exec(response.headers.get("Link") ?? "");
    this.#edit = link === null ? "" : new URL(link[1], response.url).href;
    this.#renewInTime();
    this.readyState = EventSource.OPEN;
    this.onopen();
    for await (const { name, data, cursor } of events(response.body)) {
      if (this.#ended.signal.aborted) return;
      if (name === "auth") this.#renew();
      else this.dispatchEvent(new MessageEvent(name, { data, lastEventId: cursor }));
    }
    this.#fail(EventSource.CONNECTING);
  }

  #fail(readyState, error) {
    if (this.#ended.signal.aborted) return;
    if (error instanceof RivuletError) {
      // A lost network is no refusal, neither here nor in the page's function.
      if (!(error.cause instanceof TypeError)) this.refusal = error;
    } else if (error !== undefined && !(error instanceof TypeError)) reportError(error);
    this.close();
    this.readyState = readyState;
    this.onerror();
  }

  /** Renews the token some time before it expires. */
  #renewInTime() {
    clearTimeout(this.#timer);
    const delay = renewalDelay(this.#token);
    if (delay !== null && this.#edit !== "") this.#timer = setTimeout(() => this.#renew(), delay);
  }

  /**
   * Gets a new token, and gives it to the open stream. If the server does not take it for this stream, the stream is
   * opened again. If no token or no answer comes, the stream stays open until the server ends it.
   */
  async #renew() {
    if (this.#isRenewing || this.#edit === "") return;
    this.#isRenewing = true;
    clearTimeout(this.#timer);
    const { signal } = this.#ended;
    try {
      const before = this.#token;
      await this.#credential.replace(before);
      const { response, token } = await this.#credential.fetch(this.#edit, { ...sending("PATCH", { renew: true }), signal });
      if (signal.aborted) return;
      if (!response.ok) return this.#fail(EventSource.CONNECTING);
      this.#token = token;
      // A function that returns the old token again would be asked without a pause.
      if (token !== before) this.#renewInTime();
    } catch (error) {
      if (!signal.aborted && !(error instanceof RivuletError)) reportError(error);
    } finally {
      this.#isRenewing = false;
    }
  }
}

/**
 * The events of a stream's bytes. Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>, section
 * 9.2.6.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<{name: string, data: string, cursor: string}>}
 */
export async function* events(body) {
  let cursor = "";
  let [name, data, characters] = ["", [], 0];
  for await (const line of lines(body)) {
    if (line === "") {
      if (data.length > 0) yield { name: name || "message", data: data.join("\n"), cursor };
      [name, data, characters] = ["", [], 0];
      continue;
    }
    characters += line.length;
    if (characters > eventCharactersMax) throw new RivuletError("An event of the stream is too large.");
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") name = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) cursor = value;
  }
}

/** The lines of a text in UTF-8, which end with CR, LF or both. A last line without an end is left out. */
async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  /** @type {string[]} The parts of a line that is not complete. */
  let rest = [];
  let characters = 0;
  let endedWithCR = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const text = endedWithCR && value.startsWith("\n") ? value.slice(1) : value;
      if (value !== "") endedWithCR = value.endsWith("\r");
      const found = text.split(/\r\n|\r|\n/);
      for (const part of found.slice(0, -1)) {
        yield rest.length === 0 ? part : rest.join("") + part;
        [rest, characters] = [[], 0];
      }
      const last = found.at(-1);
      if (last !== "") rest.push(last);
      characters += last.length;
      if (characters > eventCharactersMax) throw new RivuletError("A line of the stream is too long.");
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
