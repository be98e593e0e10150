// A value that is shown once, with a button that copies it.

import { copyText } from '../ui/labels/copy-text.js';
import { fill, h } from '../ui/dom.js';

/** Fills `box` with a sentence, the value and its button. */
export function showOnce(box, sentence, title, value) {
  const input = h('input', { id: 'value', readonly: true, value, 'aria-label': title });
  const copy = h('button', { type: 'button', onclick: () => copyText(value, copy) }, 'Copy');
  fill(box, h('p', {}, sentence), h('div', { class: 'actions' }, input, copy));
  input.select();
}
