// Copying of a text by a button, also on pages without TLS, where browsers give scripts no clipboard.

import { h } from '../dom.js';

const SHOWN_MS = 2000;

/**
 * Copies the text; the button says for a moment whether that succeeded.
 *
 * @param {string} text
 * @param {HTMLElement} button
 * @param {string} failed
 */
export async function copyText(text, button, failed = 'Not copied') {
  button.dataset.title ??= button.textContent ?? '';
  button.textContent = (await copied(text, button)) ? 'Copied' : failed;
  setTimeout(() => (button.textContent = button.dataset.title ?? ''), SHOWN_MS);
}

/**
 * True if the text is in the clipboard.
 *
 * @param {string} text
 * @param {HTMLElement} button
 */
async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByCommand(text, button);
  }
}

/**
 * The same by the command of a selected field.
 *
 * @param {string} text
 * @param {HTMLElement} button
 */
function copiedByCommand(text, button) {
  const field = /** @type {HTMLTextAreaElement} */ (h('textarea', { class: 'unseen', readonly: true, tabindex: '-1' }));
  field.value = text;
  button.after(field); // within its dialog, if there is one: nothing outside can be selected then
  field.focus({ preventScroll: true });
  field.select();
  const done = document.execCommand?.('copy') ?? false;
  field.remove();
  button.focus();
  return done;
}
