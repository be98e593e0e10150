// A grid of values as coloured cells: a table, also for screen readers. A single axis becomes a row.

import { fill, h } from '../ui/dom.js';
import { plural } from '../util/format.js';

/**
 * rows, columns: {title, values, text(value)}; columns.values across, rows.values down (rows null: one row).
 * cell(i, j) -> {mean, half, count, points}; text(mean) writes a value; onPick(cell).
 * better: 'higher', 'lower', or null where values are not ranked.
 */
export function heatmap(element, { columns, rows, cell, text, better, onPick }) {
  const down = rows?.values ?? [null];
  const means = down
    .flatMap((_, j) => columns.values.map((_, i) => cell(i, j)?.mean))
    .filter((mean) => mean !== null && mean !== undefined);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const tint = (mean) => {
    if (better === null) return 0;
    if (high === low) return 0.5;
    return better === 'lower' ? (high - mean) / (high - low) : (mean - low) / (high - low);
  };
  const body = down.map((value, j) =>
    h(
      'tr',
      {},
      rows ? h('th', { scope: 'row' }, rows.text(value)) : null,
      columns.values.map((_, i) => {
        const found = cell(i, j);
        if (!found || found.mean === null)
          return h(
            'td',
            { class: 'none' },
            found?.points.some(({ status }) => status === 'queued' || status === 'running') ? '…' : '–',
          );
        const half = found.half === null ? '' : ` ± ${found.half ? text(found.half) : 0}`;
        const td = h(
          'td',
          {
            class: 'heat',
            css: { '--share': legible(tint(found.mean)).toFixed(3) },
            title: `${text(found.mean)}${half}, ${plural(found.count, 'run')}`,
          },
          h(
            'button',
            { type: 'button', onclick: () => onPick(found) },
            text(found.mean),
            half ? h('small', {}, half) : null,
          ),
        );
        if (tint(found.mean) > 0.5) td.classList.add('dark');
        return td;
      }),
    ),
  );
  const meaning = better === null ? 'values are not ranked' : 'stronger colours mark better values';
  const caption = `${columns.title} across${rows ? `, ${rows.title} down` : ''}; ${meaning}`;
  fill(
    element,
    h('p', { class: 'muted small' }, caption),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'heatmap', 'aria-label': caption },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            rows ? h('td', {}) : null,
            columns.values.map((value) => h('th', { scope: 'col' }, columns.text(value))),
          ),
        ),
        h('tbody', {}, body),
      ),
    ),
  );
}

/** Share of the strong colour for a tint: the middle is left out, on which neither text colour is legible. */
const legible = (tint) => (tint > 0.5 ? 0.65 + (tint - 0.5) * 0.7 : tint * 0.7);
