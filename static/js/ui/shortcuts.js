// Keyboard shortcuts of a page, listed by `?`.

import { h } from './dom.js';

/** Rows of pages with a playhead, and of pages with charts. */
export const PLAYHEAD_KEYS = [
  ['Space', 'Play or pause'],
  ['L', 'Go to the latest time and follow it'],
  [', and .', 'Step back and forward in time'],
];
export const CHART_KEYS = [
  ['← → + − 0', 'Pan, zoom and show all, in the focused chart'],
  ['Double-click', 'Show the whole run'],
  ['Esc', 'Close the drawer'],
  ['Ctrl-K', 'Search'],
  ['?', 'Show this list'],
];

/** rows: [[keys, what they do]] */
export function shortcutsHelp(rows) {
  const list = h(
    'dl',
    { class: 'facts' },
    rows.map(([keys, what]) => [h('dt', {}, h('kbd', {}, keys)), h('dd', {}, what)]),
  );
  const close = h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Close');
  const dialog = h(
    'dialog',
    { class: 'card', 'aria-label': 'Keys' },
    h('header', {}, h('h2', {}, 'Keys'), h('div', { class: 'actions' }, close)),
    list,
  );
  document.body.append(dialog);
  addEventListener('keydown', (event) => {
    if (event.key === '?' && !(/** @type {Element} */ (event.target).closest('input, select, textarea')))
      dialog.showModal();
  });
}
