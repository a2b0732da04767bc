// The worker that follows sessions, stores and values for all pages of a browser: one stream for each, for any number
// of pages.

import { PagesCredential } from "./shared-credential.js";
import { connect, followStore, followValue } from "./rivulet.js";

const makers = { session: connect, store: followStore, value: followValue };
/**
 * @typedef {import("./rivulet.js").Session | import("./rivulet.js").Store | import("./rivulet.js").Value} Followed
 * @type {Map<string, {one: Followed, pages: PagesCredential}>}
 */
const followed = new Map();

globalThis.onconnect = ({ ports: [port] }) => {
  let leave = () => {};
  let pages;
  port.onmessage = ({ data }) => {
    if (data?.question !== undefined) return pages?.take(port, data);
    leave();
    [leave, pages] = data === null ? [() => {}] : serve(port, data);
  };
};

/**
 * Sends a page all known values and then each change, until the page leaves. `caller` is the identity of the page's
 * tokens, or null without a credential.
 */
function serve(port, { kind, options: { paths, ...options }, caller }) {
  const key = JSON.stringify([kind, options, caller]);
  if (!followed.has(key)) {
    const pages = new PagesCredential(caller);
    const credential = caller === null ? {} : { credential: pages.source };
    followed.set(key, { one: makers[kind]({ ...options, ...credential }), pages });
  }
  const { one, pages } = followed.get(key);
  pages.add(port);
  const send = (name, content, cursor) => port.postMessage({ name, data: JSON.stringify(content), cursor: cursor ?? "" });
  const observe = {
    session: () => one.observe(paths, (values, { event, version, cursor, changes }) => {
      if (event === "change") send(event, { version, changes }, cursor);
      else send("snapshot", { version, values }, cursor);
    }),
    store: () => one.observe((_, { event, version, cursor, items, removed }) => {
      const operation = event === "insert" || event === "remove" ? event : "loaded";
      send(operation, { version, operation, items, removed }, cursor);
    }),
    value: () => one.observe((value, { version, cursor }) => send("change", { version, value }, cursor)),
  };
  const end = observe[kind]();
  // A page that opens or returns should not wait for the next attempt.
  if (one.connection.retryAt !== null || one.connection.state === "closed") one.reconnect();
  const endConnection = one.onConnection(({ state }) => port.postMessage({ state }));
  const leave = () => {
    end();
    endConnection();
    pages.remove(port);
  };
  return [leave, pages];
}
