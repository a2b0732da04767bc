// Requests to a Rivulet server, and the errors that refusals become.

/** The error of a request. `status` is 0 if no answer came. `problem` is the RFC 9457 document, if there is one. */
export class RivuletError extends Error {
  /**
   * @param {string} message
   * @param {{status?: number, problem?: {[name: string]: any} | null, tag?: string | null, cause?: unknown}} [details]
   *   `tag`: the entity tag of the present value, from a 412
   */
  constructor(message, { status = 0, problem = null, tag = null, cause } = {}) {
    super(message, { cause });
    this.name = "RivuletError";
    this.status = status;
    this.problem = problem;
    this.tag = tag;
  }
}

/**
 * Sends a request to the server. An answer that is not a success is thrown.
 *
 * @param {string} url
 * @param {RequestInit} [options]
 * @param {import("./credential.js").Credential} [credential] the token; without it, the request has none
 * @returns {Promise<Response>}
 * @throws {RivuletError}
 */
export async function request(url, options, credential) {
  const response = credential === undefined ? await reach(url, options) : (await credential.fetch(url, options)).response;
  if (!response.ok) throw await refusal(response);
  return response;
}

/**
 * Sends a request, and returns any answer.
 *
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 * @throws {RivuletError} if no answer came
 */
export async function reach(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    throw new RivuletError("The server cannot be reached.", { cause: error });
  }
}

/**
 * A request with a JSON body.
 *
 * @param {string} method
 * @param {import("./pointer.js").Json} body
 * @param {{[name: string]: string}} [headers]
 * @returns {RequestInit}
 */
export function sending(method, body, headers = {}) {
  return { method, headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/**
 * The error of a refusal, with the message of the problem document.
 *
 * @param {Response} response
 */
export async function refusal(response) {
  const problem = await response.json().catch(() => null);
  const message = problem?.detail ?? problem?.title ?? `The server answered ${response.status}.`;
  return new RivuletError(message, { status: response.status, problem, tag: response.headers.get("ETag") });
}
