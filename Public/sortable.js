// Lets users drag the items of a list by their handles, with a mouse, a pen or a finger.

/** The page scrolls if the pointer is within this distance of the top or the bottom of the window. */
const edgePixels = 56;
/** The most pixels that the page scrolls per frame. */
const scrollPixelsMax = 14;

/**
 * Makes the items of a list draggable. The list itself is not changed, because `onDrop` handles the drop.
 *
 * @param {HTMLElement} list
 * @param {string} handle the selector of an item's handle
 * @param {(item: HTMLElement, before: HTMLElement | null) => void} onDrop `before` is null after the last item
 */
export function makeSortable(list, handle, onDrop) {
  list.addEventListener("pointerdown", (event) => {
    const grip = event.target.closest(handle);
    if (grip === null || event.button !== 0 || !event.isPrimary) return;
    event.preventDefault();
    drag(list, grip, grip.closest("li"), event, onDrop);
  });
}

/** One drag, from its first pointer event to its last. */
function drag(list, grip, item, start, onDrop) {
  const ended = new AbortController();
  const { signal } = ended;
  const startTop = start.clientY - item.getBoundingClientRect().top;
  let pointer = { x: start.clientX, y: start.clientY };
  /** @type {{item: HTMLElement, side: "before" | "after"} | null} */
  let target = null;

  const aim = () => {
    target?.item.removeAttribute("data-drop");
    target = targetAt(list, item, pointer.y);
    if (target !== null) target.item.dataset.drop = target.side;
    item.style.transform = "";
    item.style.transform = `translateY(${pointer.y - startTop - item.getBoundingClientRect().top}px)`;
  };
  const scroll = () => {
    if (signal.aborted) return;
    const near = Math.min(pointer.y - edgePixels, 0) + Math.max(pointer.y - innerHeight + edgePixels, 0);
    if (near !== 0) {
      scrollBy(0, (Math.max(-1, Math.min(near / edgePixels, 1)) * scrollPixelsMax));
      aim();
    }
    requestAnimationFrame(scroll);
  };
  const end = (isDrop) => {
    if (signal.aborted) return;
    ended.abort();
    item.removeAttribute("data-dragged");
    item.style.transform = "";
    target?.item.removeAttribute("data-drop");
    if (!isDrop || target === null || !item.isConnected || !target.item.isConnected) return;
    const before = target.side === "before" ? target.item : target.item.nextElementSibling;
    if (before !== item && before !== item.nextElementSibling) onDrop(item, before);
  };

  grip.setPointerCapture(start.pointerId);
  item.dataset.dragged = "true";
  grip.addEventListener("pointermove", (event) => {
    pointer = { x: event.clientX, y: event.clientY };
    aim();
  }, { signal });
  grip.addEventListener("pointerup", () => end(true), { signal });
  grip.addEventListener("pointercancel", () => end(false), { signal });
  // If the handle was removed with its row, the document gets the event.
  document.addEventListener("lostpointercapture", (event) => event.pointerId === start.pointerId && end(false), { signal });
  addEventListener("keydown", (event) => event.key === "Escape" && end(false), { signal });
  requestAnimationFrame(scroll);
}

/**
 * The item at a height of the window, and the side of its middle. Beyond the list, the result is its first or last
 * item.
 */
function targetAt(list, item, y) {
  const bounds = list.getBoundingClientRect();
  const inside = Math.max(bounds.top + 1, 1, Math.min(y, bounds.bottom - 1, innerHeight - 1));
  const other = document.elementsFromPoint(bounds.left + bounds.width / 2, inside)
    .map((element) => element.closest("li"))
    .find((candidate) => candidate !== null && candidate !== item && list.contains(candidate));
  if (other === undefined) return null;
  const { top, height } = other.getBoundingClientRect();
  return { item: other, side: y < top + height / 2 ? "before" : "after" };
}
