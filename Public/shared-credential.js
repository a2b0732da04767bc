// The credential of a stream that several pages share. A worker has none of its own, so it asks a page.

import { identity } from "./credential.js";

/** A page that does not answer in this time is closed, or its network is lost. The next page is asked. */
const answerMilliseconds = 30_000;

/** The pages of one caller that follow one resource. */
export class PagesCredential {
  #caller;
  /** @type {Map<MessagePort, (answer: {question: number, token: string | null, error: string | null}) => void>} */
  #pages = new Map();
  #questions = 0;
  /** @type {string | null | undefined} */
  #last;

  /** @param {string} caller the identity of the tokens, see `identity` */
  constructor(caller) {
    this.#caller = caller;
  }

  /** @param {MessagePort} port */
  add(port) {
    this.#pages.set(port, () => {});
  }

  /** @param {MessagePort} port */
  remove(port) {
    this.#pages.delete(port);
  }

  /**
   * Takes a page's answer.
   *
   * @param {MessagePort} port
   * @param {{question: number, token: string | null, error: string | null}} answer
   */
  take(port, answer) {
    this.#pages.get(port)?.(answer);
  }

  /**
   * Returns a token of one of the pages, the newest page first. A token of another caller is not used.
   *
   * @type {import("./credential.js").CredentialSource}
   */
  source = async ({ refresh }) => {
    let reason = "No page has a token of the stream's caller.";
    for (const port of [...this.#pages.keys()].reverse()) {
      const { token, error } = await this.#ask(port, refresh ? this.#last : undefined);
      if (error !== null) reason = error;
      else if ((await identity(token)) === this.#caller) return (this.#last = token);
    }
    throw new Error(reason);
  };

  #ask(port, refused) {
    const question = (this.#questions += 1);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ token: null, error: "The page did not answer." }), answerMilliseconds);
      this.#pages.set(port, (answer) => {
        if (answer.question !== question) return;
        clearTimeout(timer);
        resolve(answer);
      });
      port.postMessage({ question, refused });
    });
  }
}
