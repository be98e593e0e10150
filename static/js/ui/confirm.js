// Confirmation dialog before an action that removes or stops something, or that others see at once.

import { h } from './dom.js';

/**
 * True if the operator agrees; Escape and the second button say no. The focus returns to where it was.
 *
 * @param {string} question
 * @param {string} verb what the first button says
 * @param {'danger' | 'primary'} kind of the first button; primary: nothing is removed or stopped
 * @param {string} no what the second button says
 * @returns {Promise<boolean>}
 */
export function confirmed(question, verb, kind = 'danger', no = 'Cancel') {
  const yes = h('button', { class: kind, value: 'yes' }, verb);
  return answered(question, [yes, h('button', { class: 'quiet', value: '', autofocus: true }, no)]);
}

/**
 * Dialog with a message that an operator must not miss.
 *
 * @param {string} sentence
 */
export async function informed(sentence) {
  await answered(sentence, [h('button', { class: 'primary', value: '', autofocus: true }, 'OK')]);
}

/**
 * @param {string} sentence
 * @param {HTMLElement[]} buttons
 * @returns {Promise<boolean>}
 */
function answered(sentence, buttons) {
  const text = h('p', { id: 'question' }, sentence);
  const form = h('form', { method: 'dialog' }, text, h('div', { class: 'actions' }, buttons));
  const dialog = /** @type {HTMLDialogElement} */ (
    h('dialog', { class: 'card confirm', 'aria-labelledby': 'question' }, form)
  );
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    dialog.showModal();
  });
}
