// A plain table from columns and rows.

import { h } from './dom.js';

const MOST_NARROW = 4; // columns that fit a narrow page side by side

/** columns: [{title, cell(row) -> text or node, number, wide: long text}]; onPick(row) makes rows clickable. On a narrow page a row of many columns is a card. */
export function table(columns, rows, { onPick, selected } = {}) {
  const head = h('tr', {}, columns.map((column) => h(column.title ? 'th' : 'td', { class: column.number ? 'number' : null, scope: column.title ? 'col' : null }, column.title)));
  const body = rows.map((row) => {
    const cells = columns.map((column) => h('td', { class: column.number ? 'number' : column.wide ? 'wide' : null, 'data-label': column.title }, column.cell(row)));
    const pick = onPick ? { class: 'pick', tabindex: 0, onclick: () => onPick(row), onkeydown: (e) => e.key === 'Enter' && onPick(row) } : {};
    return h('tr', { ...pick, 'aria-selected': selected?.(row) ? 'true' : null }, cells);
  });
  return h('table', { class: columns.length > MOST_NARROW ? 'list' : null }, h('thead', {}, head), h('tbody', {}, body));
}

export function empty(title, text) {
  return h('div', { class: 'empty' }, h('strong', {}, title), text);
}

/** 'n of N' of a list that may be cut; nothing is left out silently. */
export function shown(count, total, noun) {
  const n = (value) => value.toLocaleString('en-US');
  return count < total ? `showing ${n(count)} of ${n(total)} ${noun}` : `${n(total)} ${noun}`;
}
