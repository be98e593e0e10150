// Toolbar with one tab stop: the arrow keys move between its controls.

import { $$ } from './dom.js';

const CONTROLS = 'button, a[href], select, input:not([type="range"])'; // a slider needs the arrow keys itself

/** element: with role="toolbar"; its controls may be added, removed or hidden later. */
export function toolbar(element) {
  let current = null;
  const hidden = (control) => element.contains(control.closest('[hidden]'));
  const controls = () => $$(CONTROLS, element).filter((control) => !control.disabled && !hidden(control));
  const settle = () => {
    const all = controls();
    if (!all.includes(current)) current = all[0];
    for (const control of all) control.tabIndex = control === current ? 0 : -1;
  };
  element.addEventListener('focusin', ({ target }) => {
    if (target.matches(CONTROLS)) current = target;
    settle();
  });
  element.addEventListener('keydown', (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
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

/** Whether an arrow key leaves the control: in a text field, only at its edge. */
function leaves(control, way) {
  if (typeof control.selectionStart !== 'number') return true;
  const edge = way < 0 ? 0 : control.value.length;
  return control.selectionStart === edge && control.selectionEnd === edge;
}
