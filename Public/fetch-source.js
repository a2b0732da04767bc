// An event stream over fetch, which can send a token. An EventSource cannot.

import { RivuletError, refusal, sending } from "./request.js";

/** @typedef {import("./credential.js").Credential} Credential */

/** The most characters of one event. A server sends less at once. */
const eventCharactersMax = 2 ** 27;
/** A renewal without an answer, or without a time in the answer, is tried again after this time. */
const renewalMilliseconds = 5_000;
/** The longest delay of `setTimeout`. */
const delayMaxMilliseconds = 2 ** 31 - 1;
/** The answers to a renewal after which the stream cannot go on. */
const finalStatuses = [401, 403, 404];

/**
 * One stream, with the parts of an EventSource that a `Stream` uses. It renews its token when the server announces the
 * end, so the stream stays open. The page's clock and the token's claims take no part in this.
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
  /** @type {ReturnType<typeof setTimeout> | undefined} The next attempt at a renewal. */
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
    this.readyState = EventSource.OPEN;
    this.onopen();
    for await (const { name, data, cursor } of events(response.body)) {
      if (this.#ended.signal.aborted) return;
      if (name === "auth") this.#heed(data);
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

  /** Renews the token, whose end the server has announced. */
  #heed(notice) {
    this.#credential.heed(JSON.parse(notice));
    if (this.#edit === "" || this.#isRenewing) return;
    this.#isRenewing = true;
    this.#renew().catch(reportError).finally(() => (this.#isRenewing = false));
  }

  /**
   * Gets a new token, and gives it to the open stream. If the server does not take it for this stream, the stream is
   * opened again. After a failure that may pass, the renewal is tried again until the server ends the stream.
   */
  async #renew() {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const milliseconds = await this.#attempt(signal);
      if (milliseconds === null || signal.aborted) return;
      await new Promise((resolve) => (this.#timer = setTimeout(resolve, milliseconds)));
    }
  }

  /** Renews the token once; returns the time until the next attempt, or null if there is none. */
  async #attempt(signal) {
    try {
      await this.#credential.replace(this.#token);
      const { response, token } = await this.#credential.fetch(this.#edit, { ...sending("PATCH", { renew: true }), signal });
      if (response.ok) this.#token = token;
      else if (finalStatuses.includes(response.status)) this.#fail(EventSource.CONNECTING);
      else {
        const seconds = Number(response.headers.get("Retry-After"));
        return seconds > 0 ? Math.min(seconds * 1000, delayMaxMilliseconds) : renewalMilliseconds;
      }
      return null;
    } catch (error) {
      if (!(error instanceof RivuletError)) throw error;
      return renewalMilliseconds;
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
