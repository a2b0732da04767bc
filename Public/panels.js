// The panels of the demo page: gauge, history, key paths, the wire. They take values and know no session.

/** @typedef {import("./pointer.js").Json} Json */

/** The arc of the gauge, in degrees of its circle. */
const arcDegrees = 270;
/** The time that a changed key path stays marked. */
const freshMilliseconds = 1_400;
/** The most entries of the wire. Beyond this number, the oldest entries are removed. */
const wireEntriesMax = 50;
/** The most letters of an entry's data. Longer data ends in an ellipsis. */
const wireLettersMax = 1_000;

/** The arc and the big number. The count runs from 0 to 100. */
export class Gauge {
  #element;

  /** @param {HTMLElement} element a `role="meter"` with `.fill`, `.mark` and the reading */
  constructor(element) {
    this.#element = element;
  }

  /**
   * @param {number} count
   * @param {number} warnAt the position of the mark
   */
  show(count, warnAt) {
    const element = this.#element;
    element.ariaValueNow = String(count);
    element.dataset.empty = String(count <= 0);
    element.dataset.near = String(count >= warnAt);
    element.querySelector(".reading span").textContent = String(count);
    element.querySelector(".fill").style.strokeDasharray = `${(clamp(count) / 100) * arcDegrees} 360`;
    element.querySelector(".mark").style.transform = `rotate(${135 + (clamp(warnAt) / 100) * arcDegrees}deg)`;
  }
}

/** The last counts as a line over 0 to 100, with each value below it. */
export class History {
  #svg;
  #list;

  /**
   * @param {SVGElement} svg with `.line`, `.area`, `.last-point` and `.limit`, 400 wide and 72 high
   * @param {HTMLElement} list
   */
  constructor(svg, list) {
    this.#svg = svg;
    this.#list = list;
  }

  /**
   * @param {number[]} counts oldest first
   * @param {number} warnAt
   */
  show(counts, warnAt) {
    const y = (count) => (70 - (clamp(count) / 100) * 68).toFixed(1);
    const x = (i) => (counts.length < 2 ? 400 * i : (400 * i) / (counts.length - 1)).toFixed(1);
    const shown = counts.length === 1 ? [counts[0], counts[0]] : counts;
    const points = shown.map((count, i) => `${x(i)} ${y(count)}`).join(" L");
    this.#svg.querySelector(".line").setAttribute("d", points && `M${points}`);
    this.#svg.querySelector(".last-point").setAttribute("d", points && `M400 ${y(shown.at(-1))}h0`);
    this.#svg.querySelector(".area").setAttribute("d", points && `M0 72 L${points} L400 72Z`);
    for (const name of ["y1", "y2"]) this.#svg.querySelector(".limit").setAttribute(name, y(warnAt));
    this.#svg.ariaLabel = counts.length === 0 ? "No counts yet" : `The last counts: ${counts.join(", ")}`;
    const texts = counts.length === 0 ? ["No counts yet"] : counts.map(String);
    this.#list.replaceChildren(...texts.map((text) => node("li", {}, text)));
  }
}

/** A table of key paths, with the value of each and the time since it changed. */
export class KeyPaths {
  /** @type {Map<string, {row: HTMLElement, value: HTMLElement, ago: HTMLElement, shown?: string, at?: number}>} */
  #rows = new Map();

  /**
   * @param {HTMLElement} body the table's `tbody`
   * @param {string[]} paths
   */
  constructor(body, paths) {
    for (const path of paths) {
      const value = node("td");
      const ago = node("td");
      const row = node("tr", {}, node("th", { scope: "row", title: path }, path), value, ago);
      this.#rows.set(path, { row, value, ago });
    }
    body.replaceChildren(...[...this.#rows.values()].map(({ row }) => row));
    setInterval(() => this.#tellTimes(), 1000);
  }

  /**
   * Shows the values, and marks those that differ from the earlier ones.
   *
   * @param {{[path: string]: Json}} values a missing path has no value
   */
  show(values) {
    for (const [path, entry] of this.#rows) {
      const text = path in values ? JSON.stringify(values[path]) : "nothing";
      if (text === entry.shown) continue;
      if (entry.shown !== undefined) this.#mark(entry);
      entry.shown = text;
      entry.value.textContent = text;
      entry.value.title = text;
      entry.value.classList.toggle("nothing", text === "nothing" || text === "null");
    }
    this.#tellTimes();
  }

  /** Forgets the shown values, before another session is shown. */
  clear() {
    for (const entry of this.#rows.values()) {
      entry.shown = entry.at = undefined;
      entry.value.textContent = entry.ago.textContent = "";
    }
  }

  #mark(entry) {
    entry.at = Date.now();
    entry.row.removeAttribute("data-fresh");
    void entry.row.offsetWidth; // Starts the animation again when it still runs.
    entry.row.dataset.fresh = "true";
    setTimeout(() => {
      if (Date.now() - (entry.at ?? 0) >= freshMilliseconds) entry.row.removeAttribute("data-fresh");
    }, freshMilliseconds);
  }

  #tellTimes() {
    for (const { ago, at } of this.#rows.values()) {
      const text = at === undefined ? "" : since(Date.now() - at);
      if (ago.textContent !== text) ago.textContent = text;
    }
  }
}

/** The events of the stream, newest first. */
export class Wire {
  #list;
  #total;
  #events = 0;
  #bytes = 0;

  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} total
   */
  constructor(list, total) {
    this.#list = list;
    this.#total = total;
  }

  /** @param {import("./rivulet.js").WireEvent} event */
  add({ name, cursor, data, bytes }) {
    this.#events += 1;
    this.#bytes += bytes;
    this.#total.textContent = `${this.#events} ${this.#events === 1 ? "event" : "events"} · ${size(this.#bytes)}`;
    this.#insert(name, cursor, size(bytes), data.length > wireLettersMax ? `${data.slice(0, wireLettersMax)}…` : data);
  }

  /**
   * Records an event of the stream's connection, between the events of the stream.
   *
   * @param {string} text
   */
  note(text) {
    this.#insert("stream", text, "", "");
  }

  clear() {
    this.#events = this.#bytes = 0;
    this.#total.textContent = "0 events";
    this.#list.replaceChildren();
  }

  #insert(name, cursor, bytes, data) {
    const parts = [
      node("span", { className: "name" }, name),
      node("span", { className: "cursor", title: cursor }, cursor),
      node("span", { className: "size" }, bytes),
    ];
    parts[0].dataset.name = name;
    if (data) parts.push(node("span", { className: "data", title: data }, data));
    this.#list.prepend(node("li", {}, ...parts));
    while (this.#list.children.length > wireEntriesMax) this.#list.lastElementChild?.remove();
  }
}

/** Creates an element with properties and content. Text never becomes markup. */
function node(name, properties = {}, ...content) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...content);
  return element;
}

function clamp(count) {
  return Math.min(Math.max(count, 0), 100);
}

function since(milliseconds) {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 2) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}

function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KB`;
}
