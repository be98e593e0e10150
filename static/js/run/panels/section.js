// The section of a chart on the run page: title, legend, buttons, canvas, a note, and the table of its numbers.

import { h } from '../../ui/dom.js';
import { toolbar } from '../../ui/toolbar.js';

/** {element, heading, legend, actions, canvas, note} of a panel {id, title}. */
export function chartSection({ id, title }) {
  const heading = h('h2', {}, title);
  const legend = h('div', { class: 'legend', id: `${id}-legend` });
  const tableButton = h(
    'button',
    { type: 'button', class: 'quiet', id: `${id}-table`, 'aria-pressed': 'false' },
    'Table',
  );
  const actions = h('div', { class: 'actions' }, tableButton);
  const controls = h('div', { class: 'controls', role: 'toolbar', 'aria-label': title }, legend, actions);
  const subject = title.endsWith(' over time') ? title : `${title} over time`;
  const label = `${subject}; the Table button shows the same numbers`;
  const canvas = h('canvas', { id, tabindex: 0, role: 'img', 'aria-label': label });
  const note = h('p', { class: 'note', id: `${id}-note` });
  const numbers = h('div', { class: 'numbers', id: `${id}-numbers`, hidden: true });
  const plot = h('div', { class: 'plot curves' }, canvas);
  const element = h(
    'section',
    { class: 'card flush', id: `panel-${id}` },
    h('header', {}, heading, controls),
    plot,
    note,
    numbers,
  );
  toolbar(controls);
  return { element, heading, legend, actions, canvas, note };
}
