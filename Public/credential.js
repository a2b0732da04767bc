// The token of a page: it is kept until it is refused, has expired, or the server announces its end.

import { RivuletError, reach } from "./request.js";

/**
 * Returns the caller's token, or null for no token. `refresh` is true if the last token was refused or has expired.
 * Then the function must fetch a new token.
 *
 * @typedef {(request: {refresh: boolean}) => Promise<string | null>} CredentialSource
 */

/** @type {WeakMap<CredentialSource, Credential>} */
const known = new WeakMap();

/** The present token of one function of the page. All sessions and stores with the same function share it. */
export class Credential {
  #source;
  /** @type {string | null | undefined} The present token; undefined before the first. */
  #token;
  /** @type {Promise<string | null> | null} The call of the function that is under way. */
  #asking = null;
  /** The milliseconds by which the page's clock is ahead of the server's. */
  #fastMilliseconds = 0;

  /** @param {CredentialSource} source */
  constructor(source) {
    this.#source = source;
  }

  /**
   * The credential of a function; undefined without a function.
   *
   * @param {CredentialSource | undefined} source
   * @returns {Credential | undefined}
   * @throws {TypeError} if it is not a function
   */
  static of(source) {
    if (source === undefined) return undefined;
    if (typeof source !== "function") throw new TypeError("credential is a function: async ({ refresh }) => token");
    if (!known.has(source)) known.set(source, new Credential(source));
    return known.get(source);
  }

  /**
   * The present token. A token that has expired is replaced.
   *
   * @returns {Promise<string | null>}
   * @throws {RivuletError} if the function fails
   */
  async token() {
    const token = this.#token === undefined ? await this.#ask(false) : this.#token;
    return this.#hasExpired(token) ? this.replace(token) : token;
  }

  /**
   * Takes the server's time from its notice of a token's end.
   *
   * @param {{expires: string, in: number}} notice the end, and the milliseconds until then
   */
  heed({ expires, in: milliseconds }) {
    this.#fastMilliseconds = Date.now() - (Date.parse(expires) - milliseconds);
  }

  /**
   * A token in place of this one, which was refused or expires soon. Simultaneous calls share one new token.
   *
   * @param {string | null} token
   * @returns {Promise<string | null>}
   * @throws {RivuletError} if the function fails
   */
  async replace(token) {
    return this.#asking === null && this.#token !== undefined && this.#token !== token ? this.#token : this.#ask(true);
  }

  /**
   * Sends a request with the token. After a 401 it is sent once more with a new token.
   *
   * @param {string} url
   * @param {RequestInit} [options]
   * @returns {Promise<{response: Response, token: string | null}>} the answer, which may be a second 401
   * @throws {RivuletError} if no answer came
   */
  async fetch(url, options = {}) {
    const token = await this.token();
    const response = await reach(url, signed(options, token));
    if (response.status !== 401) return { response, token };
    await response.body?.cancel();
    const other = await this.replace(token);
    return { response: await reach(url, signed(options, other)), token: other };
  }

  /** @returns {Promise<string>} a text that is the same for all tokens of one caller */
  async identity() {
    return identity(await this.token());
  }

  async #ask(refresh) {
    if (this.#asking !== null) return this.#asking;
    this.#asking = this.#call(refresh);
    try {
      this.#token = await this.#asking;
    } finally {
      this.#asking = null;
    }
    // A new token that has expired shows that the page's clock is fast. Otherwise each request would ask for another.
    const { issued } = claims(this.#token);
    if (refresh && issued !== null && this.#hasExpired(this.#token)) this.#fastMilliseconds = Date.now() - issued;
    return this.#token;
  }

  #hasExpired(token) {
    const { expires } = claims(token);
    return expires !== null && expires <= Date.now() - this.#fastMilliseconds;
  }

  async #call(refresh) {
    let token;
    try {
      token = await this.#source({ refresh });
    } catch (error) {
      throw new RivuletError("The page's credential function failed.", { cause: error });
    }
    if (token === null || (typeof token === "string" && token !== "")) return token;
    throw new RivuletError("The page's credential function returned neither a token nor null.");
  }
}

/**
 * A text that is the same for all tokens of one caller. Without claims it is the token's own hash.
 *
 * @param {string | null} token
 * @returns {Promise<string>}
 */
export async function identity(token) {
  if (token === null) return "";
  const { issuer, subject } = claims(token);
  if (subject !== null) return JSON.stringify([issuer, subject]);
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The claims of a token; null for each that is missing. Only the server checks the signature. */
function claims(token) {
  const nothing = { issuer: null, subject: null, issued: null, expires: null };
  const parts = token?.split(".") ?? [];
  if (parts.length !== 3) return nothing;
  try {
    const text = atob(parts[1].replaceAll("-", "+").replaceAll("_", "/"));
    const { iss, sub, iat, exp } = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (one) => one.codePointAt(0))));
    const time = (value) => (typeof value === "number" ? value * 1000 : null);
    return { issuer: iss ?? null, subject: sub ?? null, issued: time(iat), expires: time(exp) };
  } catch {
    return nothing;
  }
}

function signed(options, token) {
  return token === null ? options : { ...options, headers: { ...options.headers, Authorization: `Bearer ${token}` } };
}
