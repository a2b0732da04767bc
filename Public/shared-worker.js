// The worker that follows sessions, stores and values for all pages of a browser: one stream for each, for any number
// of pages.

import { connect, followStore, followValue } from "./rivulet.js";

const makers = { session: connect, store: followStore, value: followValue };
/** @type {Map<string, import("./rivulet.js").Session | import("./rivulet.js").Store | import("./rivulet.js").Value>} */
const followed = new Map();

globalThis.onconnect = ({ ports: [port] }) => {
  let leave = () => {};
  port.onmessage = ({ data }) => {
    leave();
    leave = data === null ? () => {} : serve(port, data);
  };
};

/** Sends a page all known values and then each change, until the page leaves. */
function serve(port, { kind, options: { paths, ...options } }) {
  const key = JSON.stringify([kind, options]);
  const one = followed.get(key) ?? makers[kind](options);
  followed.set(key, one);
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
  return () => {
    end();
    endConnection();
  };
}
