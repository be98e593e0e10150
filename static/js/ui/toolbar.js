// Toolbar, or list of controls, with one tab stop: the arrow keys move between its controls.

import { $$ } from './dom.js';

const CONTROLS = 'button, a[href], select, input:not([type="range"])'; // a slider needs the arrow keys itself

/** @typedef {Record<string, number>} Keys how far each moves */

/** @type {Keys} */
const ACROSS = { ArrowLeft: -1, ArrowRight: 1 };
/** @type {Keys} */
export const DOWN = { ArrowUp: -1, ArrowDown: 1 };

/** Its controls may be added, removed or hidden later. controls: a selector; keys: which of them move, and how far. */
export function toolbar(element, { controls: selector = CONTROLS, keys = ACROSS } = {}) {
  let current = null;
  const hidden = (control) => element.contains(control.closest('[hidden]'));
  const controls = () => $$(selector, element).filter((control) => !control.disabled && !hidden(control));
  const settle = () => {
    const all = controls();
    if (!all.includes(current)) current = all[0];
    for (const control of all) control.tabIndex = control === current ? 0 : -1;
  };
  element.addEventListener('focusin', ({ target }) => {
    if (target.matches(selector)) current = target;
    settle();
  });
  element.addEventListener('keydown', (event) => {
    const way = keys[event.key];
    if (!way || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const all = controls();
    const at = all.indexOf(event.target);
    if (at < 0 || !leaves(event.target, way)) return;
    all[(at + way + all.length) % all.length].focus();
    event.preventDefault();
  });
  const changes = { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden', 'disabled'] };
  new MutationObserver(settle).observe(element, changes);
  settle();
}

/** True if an arrow key leaves the control: in a text field, only at its edge. */
function leaves(control, way) {
  if (typeof control.selectionStart !== 'number') return true;
  const edge = way < 0 ? 0 : control.value.length;
  return control.selectionStart === edge && control.selectionEnd === edge;
}
