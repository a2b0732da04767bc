// The errors of failed actions. Each is shown beside its control until the control is used again or the server is back.

/** The parts of a page that have an error line. An error is shown in the innermost part around its control. */
const parts = "li, form, .setting, .steps, .warning, .tools, .news, .try";

/** The errors that end with the server's return. @type {Set<Element>} */
const passing = new Set();

/**
 * Shows beside a control the reason that its action failed.
 *
 * @param {Element} control
 * @param {Error & {status?: number}} error an error without an answer, or with a 5xx status, is removed when the server
 *   is back
 */
export function showError(control, error) {
  const line = lineOf(control) ?? makeLine(control);
  // A screen reader reads an alert when its text changes. The text is cleared first, so that a second failure of the
  // same kind is read, too.
  line.textContent = "";
  line.textContent = error.message;
  if ((error.status ?? 0) === 0 || error.status >= 500) passing.add(line);
  else passing.delete(line);
}

/**
 * Removes the error beside a control.
 *
 * @param {Element} control
 */
export function clearError(control) {
  const line = lineOf(control);
  if (line !== null) clear(line);
}

/** Removes the errors of a server that was unavailable, because it is back. */
export function clearPassingErrors() {
  passing.forEach(clear);
}

/**
 * Performs an action of a control. Its error is shown beside the control, in place of an earlier one.
 *
 * @template Outcome
 * @param {Element} control
 * @param {() => Promise<Outcome>} action
 * @returns {Promise<{outcome?: Outcome, error: Error | null}>}
 */
export async function attempt(control, action) {
  clearError(control);
  try {
    return { outcome: await action(), error: null };
  } catch (error) {
    showError(control, error);
    return { error };
  }
}

/** The error line of a control's part. A list item or a form has it inside, any other part has it behind. */
function lineOf(control) {
  const part = control.closest(parts);
  if (part.matches("li, form")) return part.querySelector(":scope > .error");
  return part.nextElementSibling?.matches(".error") ? part.nextElementSibling : null;
}

function makeLine(control) {
  const part = control.closest(parts);
  const line = Object.assign(document.createElement("p"), { className: "error passing", role: "alert" });
  if (part.matches("li, form")) part.append(line);
  else part.after(line);
  return line;
}

function clear(line) {
  passing.delete(line);
  if (line.matches(".passing")) line.remove();
  else line.textContent = "";
}
