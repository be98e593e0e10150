// A grid of values as coloured cells: a table, also for screen readers. A single axis becomes a row.

import { table } from '../ui/data-table.js';
import { fill, h } from '../ui/dom.js';
import { plural } from '../util/format.js';

const WAITING = ['queued', 'running']; // states of runs whose values are to come

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
  const content = (found) => {
    if (!valued(found)) return found?.points.some(({ status }) => WAITING.includes(status)) ? '…' : '–';
    const half = halfOf(found);
    return h(
      'button',
      { type: 'button', onclick: () => onPick(found) },
      text(found.mean),
      half ? h('small', {}, half) : null,
    );
  };
  const halfOf = ({ half }) => (half === null ? '' : ` ± ${half ? text(half) : 0}`);
  const look = (found) => {
    if (!valued(found)) return { class: 'none' };
    const share = tint(found.mean);
    return {
      class: share > 0.5 ? 'heat dark' : 'heat',
      css: { '--share': legible(share).toFixed(3) },
      title: `${text(found.mean)}${halfOf(found)}, ${plural(found.count, 'run')}`,
    };
  };
  const meaning = better === null ? 'values are not ranked' : 'stronger colours mark better values';
  const caption = `${columns.title} across${rows ? `, ${rows.title} down` : ''}; ${meaning}`;
  const heads = rows ? [{ title: '', rowHead: true, cell: ({ value }) => rows.text(value) }] : [];
  const values = columns.values.map((value, i) => ({
    title: columns.text(value),
    cell: ({ j }) => content(cell(i, j)),
    properties: ({ j }) => look(cell(i, j)),
  }));
  const lines = down.map((value, j) => ({ value, j }));
  fill(
    element,
    h('p', { class: 'muted small' }, caption),
    h(
      'div',
      { class: 'scroll' },
      table([...heads, ...values], lines, { className: 'heatmap', label: caption, cards: false }),
    ),
  );
}

const valued = (found) => (found?.mean ?? null) !== null;

/** Share of the strong colour for a tint: the middle is left out, on which neither text colour is legible. */
const legible = (tint) => (tint > 0.5 ? 0.65 + (tint - 0.5) * 0.7 : tint * 0.7);
