// The errors of failed actions: each stands beside its control, until that is used again or the server is back.

/** The parts of a page that have an error of their own: that of the innermost one around the control. */
const parts = "li, form, .setting, .steps, .warning, .tools, .news, .try";

/** The errors that the server's return makes untrue. @type {Set<Element>} */
const passing = new Set();

/**
 * Shows beside a control why its action failed.
 *
 * @param {Element} control
 * @param {Error & {status?: number}} error one without an answer, or with a server's fault, goes when the server is back
 */
export function showError(control, error) {
  const line = lineOf(control) ?? makeLine(control);
  // An alert is read out when its text changes: a second failure of the same kind as well.
  line.textContent = "";
  line.textContent = error.message;
  if ((error.status ?? 0) === 0 || error.status >= 500) passing.add(line);
  else passing.delete(line);
}

/**
 * Takes away the error beside a control.
 *
 * @param {Element} control
 */
export function clearError(control) {
  const line = lineOf(control);
  if (line !== null) clear(line);
}

/** Takes away the errors of a server that was away: it is back. */
export function clearPassingErrors() {
  passing.forEach(clear);
}

/**
 * Performs an action of a control. Its error is shown beside the control, in place of the one before.
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

/** A part that is a list's item or a form has its error inside, any other one behind it. */
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
