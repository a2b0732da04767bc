// Reads and changes JSON values by JSON Pointer (RFC 6901). The given value is never altered.

/**
 * @typedef {null | boolean | number | string | Json[] | {[name: string]: Json}} Json
 */

/**
 * One change of a stream or of a dispatch answer.
 *
 * `path` is a JSON Pointer. In a keyed collection, the token after the collection is the element's id, and `index` is
 * the new position of the element. In any other array, the token is the index. An array is a keyed collection if its
 * elements are objects with an `id`. Changes are applied in order, each to the result of the one before.
 *
 * @typedef {object} Change
 * @property {"add" | "replace" | "remove" | "move"} op
 * @property {string} path
 * @property {Json} [value] of `add` and `replace`
 * @property {number} [index] of `add` and `move` in a keyed collection, counted from 0
 */

/**
 * Splits a pointer into its unescaped tokens. `""`, the whole value, has none.
 *
 * @param {string} pointer
 * @returns {string[]}
 * @throws {SyntaxError} if the pointer is neither empty nor begins with `/`
 */
export function tokens(pointer) {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) throw new SyntaxError(`The key path "${pointer}" must be empty or begin with "/".`);
  return pointer.slice(1).split("/").map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Joins tokens into a pointer; the inverse of {@link tokens}.
 *
 * @param {string[]} parts
 * @returns {string}
 */
export function pointer(parts) {
  return parts.map((token) => "/" + token.replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/**
 * The value at a pointer, or `undefined` if there is none.
 *
 * @param {Json | undefined} root
 * @param {string} path
 * @returns {Json | undefined}
 */
export function get(root, path) {
  return tokens(path).reduce(child, root);
}

/**
 * A value like `root` with `value` at `path`. Missing parts of the path become objects.
 *
 * All values beside the path are shared with `root`, so `===` finds the changes.
 *
 * @param {Json | undefined} root
 * @param {string} path
 * @param {Json} value
 * @returns {Json}
 */
export function set(root, path, value) {
  return edit(root, tokens(path), () => value);
}

/**
 * A value like `root` without the value at `path`. Returns `root` itself if there is none.
 *
 * @param {Json | undefined} root
 * @param {string} path
 * @returns {Json | undefined}
 */
export function remove(root, path) {
  if (path === "" || get(root, path) === undefined) return path === "" ? undefined : root;
  const parts = tokens(path);
  const last = parts.pop() ?? "";
  return edit(root, parts, (parent) => {
    if (Array.isArray(parent)) return parent.toSpliced(locate(parent, last), 1);
    const { [last]: _, ...rest } = parent;
    return rest;
  });
}

/**
 * A value like `root` after one change.
 *
 * For nested paths, the change of an inner path repeats a part of the outer change. It then alters nothing: an `add` of
 * an existing value, or a `remove` of a missing one. The same holds for an `add` at an index of an array that is no
 * keyed collection.
 *
 * @param {Json | undefined} root
 * @param {Change} change
 * @returns {Json | undefined}
 */
export function apply(root, change) {
  const parts = tokens(change.path);
  if (change.op === "remove") return remove(root, change.path);
  if (change.op === "replace" || parts.length === 0) return edit(root, parts, () => change.value ?? null);
  const last = parts.pop() ?? "";
  const parent = get(root, pointer(parts));
  if (!Array.isArray(parent)) return change.op === "move" ? root : set(root, change.path, change.value ?? null);

  const isByID = change.index !== undefined || isKeyed(parent);
  const from = isByID ? locate(parent, last) : -1;
  if (change.op === "move" && from < 0) return root;
  const element = change.op === "move" ? parent[from] : change.value ?? null;
  const others = from < 0 ? parent : parent.toSpliced(from, 1);
  const known = isByID ? (from < 0 ? others.length : from) : last === "-" ? others.length : Number(last);
  if (!isByID && equal(parent[known], element)) return root;
  return edit(root, parts, () => others.toSpliced(change.index ?? known, 0, element));
}

/**
 * A value like `root` after all the changes, in their order.
 *
 * Consecutive changes in one keyed collection share one copy of it. So many changes cost about as much as the
 * collection is long, and not a copy each.
 *
 * @param {Json | undefined} root
 * @param {Change[]} changes
 * @returns {Json | undefined}
 */
export function applyAll(root, changes) {
  let made = root;
  for (let start = 0, end = 0; start < changes.length; start = end) {
    const place = collection(made, changes[start].path);
    end = start + 1;
    while (place !== null && end < changes.length && changes[end].path.startsWith(`${place}/`)) end += 1;
    if (end === start + 1) {
      made = apply(made, changes[start]);
    } else {
      const run = changes.slice(start, end).map((change) => ({ ...change, path: change.path.slice(place.length) }));
      made = edit(made, tokens(place), (elements) => changed(elements, run));
    }
  }
  return made;
}

/**
 * True if a subscription to `pattern` includes changes at `path`: the pattern is equal to the path or above it.
 * A token `*` of the pattern stands for any one token.
 *
 * @param {string} pattern
 * @param {string} path
 * @returns {boolean}
 */
export function covers(pattern, path) {
  const wanted = tokens(pattern);
  const given = tokens(path);
  return wanted.length <= given.length && wanted.every((token, i) => token === "*" || token === given[i]);
}

/**
 * True if a change at `path` can alter a value of `pattern`: one of them is equal to the other or above it.
 *
 * @param {string} pattern
 * @param {string} path
 * @returns {boolean}
 */
export function overlaps(pattern, path) {
  const wanted = tokens(pattern);
  const given = tokens(path);
  return given.every((token, i) => i >= wanted.length || wanted[i] === "*" || wanted[i] === token);
}

/**
 * Every path in `root` that `pattern` matches, with its value.
 *
 * @param {Json | undefined} root
 * @param {string} pattern
 * @returns {[path: string, value: Json][]}
 */
export function expand(root, pattern) {
  /** @type {[string[], Json | undefined][]} */
  let places = [[[], root]];
  for (const token of tokens(pattern)) {
    places = places.flatMap(([parts, value]) =>
      (token === "*" ? childTokens(value) : [token]).map((name) => [[...parts, name], child(value, name)]),
    );
  }
  return places.flatMap(([parts, value]) => (value === undefined ? [] : [[pointer(parts), value]]));
}

/**
 * True if two JSON values are the same. The order of an object's members does not count.
 *
 * @param {Json | undefined} a
 * @param {Json | undefined} b
 * @returns {boolean}
 */
export function equal(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

/** The child of a value by one token, or `undefined`. */
function child(value, token) {
  if (Array.isArray(value)) return value[locate(value, token)];
  return isObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

/** The tokens that a `*` matches below a value: names, ids of a keyed collection, or indices. */
function childTokens(value) {
  if (Array.isArray(value)) return value.map((element, i) => (isKeyed(value) ? idOf(element) : String(i)));
  return isObject(value) ? Object.keys(value) : [];
}

/**
 * `root` with the value at the end of `parts` replaced by `change(value)`. Only the values along the path are copied.
 */
function edit(root, parts, change) {
  if (parts.length === 0) return change(root);
  const [token, ...rest] = parts;
  const value = edit(child(root, token), rest, change);
  if (!Array.isArray(root)) return { ...(isObject(root) ? root : {}), [token]: value };
  const index = locate(root, token);
  return index < 0 ? [...root, value] : root.with(index, value);
}

/** The pointer of the outermost keyed collection on a path; null if there is none. */
function collection(root, path) {
  let value = root;
  const parts = tokens(path);
  for (const [i, token] of parts.entries()) {
    if (isKeyed(value)) return pointer(parts.slice(0, i));
    value = child(value, token);
  }
  return null;
}

/** A keyed collection after changes. The paths of the changes begin at its elements. */
function changed(collection, changes) {
  let elements = [...collection];
  const ids = new Set(elements.map(idOf));
  /**
   * @type {Map<string, number> | null} The position of each element; null after an insertion between elements or a
   *   removal.
   */
  let places = null;
  const find = (id) => (places ??= new Map(elements.map((element, i) => [idOf(element), i]))).get(id) ?? -1;

  for (let i = 0; i < changes.length; i += 1) {
    const [id, ...rest] = tokens(changes[i].path);
    if (rest.length > 0 || changes[i].op === "replace") {
      const at = find(id);
      if (at >= 0) elements[at] = apply(elements[at], { ...changes[i], path: pointer(rest) });
    } else if (changes[i].op === "remove") {
      const gone = new Set([id]);
      while (isRemoval(changes[i + 1])) gone.add(tokens(changes[(i += 1)].path)[0]);
      elements = elements.filter((element) => !gone.has(idOf(element)));
      gone.forEach((one) => ids.delete(one));
      places = null;
    } else if (changes[i].op === "add" && !ids.has(id) && (changes[i].index ?? elements.length) >= elements.length) {
      ids.add(id);
      places?.set(id, elements.length);
      elements.push(changes[i].value ?? null);
    } else {
      elements = apply(elements, changes[i]);
      ids.add(id);
      places = null;
    }
  }
  return elements;
}

/** True if a change removes an element of the collection at which its path begins. */
function isRemoval(change) {
  return change?.op === "remove" && tokens(change.path).length === 1;
}

/**
 * The position of the element with this token: by id in a keyed collection, by index in any other array; -1 if there is
 * none.
 */
function locate(array, token) {
  if (isKeyed(array)) return array.findIndex((element) => idOf(element) === token);
  return /^(0|[1-9]\d*)$/.test(token) && Number(token) < array.length ? Number(token) : -1;
}

/** True if an array is a keyed collection, judged by its first element. */
function isKeyed(value) {
  return Array.isArray(value) && isObject(value[0]) && Object.hasOwn(value[0], "id");
}

/** The token that names an element of a keyed collection. */
function idOf(element) {
  return isObject(element) ? String(element.id) : "";
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
