// The table of shadows: one row per scheduler, beside what the real cluster did, and how it went in a week.

import { comparedCell } from '../compare/metrics-table.js';
import { valueText } from '../core/metric-table.js';
import { table } from '../ui/data-table.js';
import { h } from '../ui/dom.js';
import { duration } from '../util/format.js';

const WIDTH = 90;
const HEIGHT = 22;
const GPU = ['utilization.gpu', 'gpu_hours'];
const REAL = { scheduler: null }; // the row of the cluster itself
const NOTHING = { value: null, delta: null, relative: null, verdict: null, best: false };

/**
 * The table of one kind of durations. real: metrics of the cluster; week: {scheduler: [[Unix s, difference in ms]]};
 * mirrored: the run of the real cluster; ranked: whether the best values are marked.
 */
export function shadowTable({ rows }, { metrics, table: known, real, week, mirrored, ranked }) {
  const gpus = (real['utilization.gpu'] ?? null) !== null;
  const shown = metrics.filter((key) => (gpus ? key !== 'utilization.cpu' : !GPU.includes(key)));
  const value = (row, key, unit) => {
    if (row === REAL) return valueText(real[key], unit);
    const found = { ...NOTHING, ...row.cells[key] };
    const compared = ranked ? found : { ...found, verdict: null };
    const marked = ranked && singled(key, row.training_title);
    return comparedCell(compared, unit, {
      isBase: false,
      best: marked ? `best, ${row.training_title.toLowerCase()}` : '',
    });
  };
  // at most half of the shadows of an execution model have the best value: a mark on most rows tells nothing
  const singled = (key, title) => {
    const own = rows.filter((row) => row.training_title === title && row.cells[key]?.value !== undefined);
    return own.length < 2 || own.filter((row) => row.cells[key].best).length <= own.length / 2;
  };
  const columns = [
    { title: 'Scheduler', rowHead: true, cell: (row) => headOf(row, mirrored) },
    ...shown.map((key) => {
      const { title, unit, definition } = known.get(key);
      return { title, number: true, hint: definition, spanned: true, cell: (row) => value(row, key, unit) };
    }),
  ];
  const lastWeek = {
    title: 'Last week',
    hint: 'Difference of the mean wait from the real one in the last week; below the line: shorter waits',
    cell: (row) => (row === REAL ? '–' : sparkline(week[row.scheduler] ?? [], row.title)),
  };
  if (rows.some((row) => (week[row.scheduler] ?? []).length > 1)) columns.push(lastWeek);
  return table(columns, [REAL, ...byTraining(rows).flatMap(([, own]) => own)], {
    className: 'shadows',
    groupOf: (row) => (row === REAL ? null : row.training_title),
    instead: (row) => (row === REAL || row.status === 'done' ? null : absence(row)),
    rowProperties: (row) => (row === REAL ? { class: 'real' } : { 'data-scheduler': row.scheduler }),
  });
}

/** [title, rows] of each execution model, in the order of their first rows. */
export function byTraining(rows) {
  const found = new Map();
  for (const row of rows) found.set(row.training_title, [...(found.get(row.training_title) ?? []), row]);
  return [...found];
}

/** The name of a row, with the links to its run. */
function headOf(row, mirrored) {
  if (row === REAL) return ['Real cluster', mirrored ? links(h('a', { href: `/runs/${mirrored}/` }, 'open')) : null];
  const compares = mirrored && row.status === 'done';
  return [
    row.title,
    row.run
      ? links(
          h('a', { href: `/runs/${row.run}/` }, 'open'),
          compares ? [' · ', h('a', { href: `/compare/?runs=${mirrored},${row.run}` }, 'compare')] : null,
        )
      : null,
  ];
}

/** Message in place of the values of a scheduler that has none. */
const absence = ({ status, message }) =>
  status === 'failed' ? { class: 'error wide', content: message } : { class: 'muted wide', content: 'not computed' };

const links = (...content) => h('span', { class: 'links small' }, content);

/** A line of the differences with the zero line; a sentence for screen readers. */
export function sparkline(points, title) {
  if (points.length < 2) return h('span', { class: 'muted' }, '–');
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const [from, to] = [points[0][0], points.at(-1)[0]];
  const x = (at) => 1 + ((at - from) / (to - from || 1)) * (WIDTH - 2);
  const y = (value) => HEIGHT - 1 - ((value - low) / (high - low || 1)) * (HEIGHT - 2);
  const [least, most] = [delta(Math.min(...values)), delta(Math.max(...values))];
  const label = `${title}: difference of the mean wait from ${least} to ${most} in ${points.length} sets`;
  const picture = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: 'spark', role: 'img', 'aria-label': label });
  picture.append(
    svg('line', { x1: 0, x2: WIDTH, y1: y(0), y2: y(0), class: 'zero' }),
    svg('polyline', { points: points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ') }),
  );
  return picture;
}

const delta = (ms) => `${ms < 0 ? '−' : '+'}${duration(Math.abs(ms))}`;

function svg(tag, properties) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  return element;
}
