// The button on every chart that shows a table of the same numbers; an open table follows its chart.

import { $, fill, h } from './dom.js';
import { shown, table } from './data-table.js';

const MEANS = 'each row is the mean over the interval that begins at its time, and the last one ends at the time shown';
const NUMBER = /^([−+±≈<>]? ?[\d.].*|–?)$/; // also with a unit, a time, and a value that is missing; names are texts
const AGAIN_MS = 500; // between two looks at the chart while its table is open
const SHARE = 10; // of the time at most one tenth is spent on making the table

/**
 * make() -> {head: [text], rows: [[text]], total, means}; called when the table is opened, and repeatedly until it is
 * closed, because the chart may show another range, other rows or newer values by then.
 * means: whether a row has the means over the interval from its time to that of the next row.
 */
export function numbersButton(id, make) {
  const button = $(`#${id}-table`);
  const box = $(`#${id}-numbers`);
  for (const [name, value] of [
    ['tabindex', 0],
    ['role', 'region'],
    ['aria-label', 'The values of this chart'],
  ])
    box.setAttribute(name, value); // it scrolls
  let last = '';
  const show = () => {
    const made = make();
    const now = JSON.stringify(made);
    if (now === last) return;
    last = now;
    const { head, rows, total, means } = made;
    const columns = head.map((title, i) => ({
      title,
      number: i > 0 && rows.every((row) => NUMBER.test(String(row[i] ?? ''))),
      cell: (row) => row[i],
    }));
    fill(
      box,
      h(
        'p',
        { class: 'muted small' },
        `${shown(rows.length, total, 'rows')}, as shown in the chart${means ? `; ${MEANS}` : ''}`,
      ),
      table(columns, rows),
    );
  };
  let timer = null;
  const follow = () => {
    const began = performance.now();
    if (!document.hidden) show();
    timer = setTimeout(follow, Math.max(AGAIN_MS, SHARE * (performance.now() - began)));
  };
  button.addEventListener('click', () => {
    box.hidden = !box.hidden;
    button.setAttribute('aria-pressed', String(!box.hidden));
    clearTimeout(timer);
    if (!box.hidden) follow();
  });
}
