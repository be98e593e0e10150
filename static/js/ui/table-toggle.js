// The button on every chart that shows a table of the same numbers.

import { $, fill, h } from './dom.js';
import { shown, table } from './data-table.js';

const MEANS = 'each row is the mean over the interval that begins at its time, and the last one ends at the time shown';

/**
 * make() -> {head: [text], rows: [[text]], total, means}; the table is rebuilt each time it is opened or refreshed.
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
  const show = () => {
    const { head, rows, total, means } = make();
    const columns = head.map((title, i) => ({
      title,
      number: i > 0 && /\d|%/.test(String(rows[0]?.[i] ?? '')),
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
  button.addEventListener('click', () => {
    box.hidden = !box.hidden;
    button.setAttribute('aria-pressed', String(!box.hidden));
    if (!box.hidden) show();
  });
}
