// The table of shadows: one row per scheduler, beside what the real cluster did, and how it went in a week.

import { comparedCell } from '../compare/metrics-table.js';
import { valueText } from '../core/metric-table.js';
import { h } from '../ui/dom.js';
import { duration } from '../util/format.js';

const WIDTH = 90;
const HEIGHT = 22;
const GPU = ['utilization.gpu', 'gpu_hours'];
const NOTHING = { value: null, delta: null, relative: null, verdict: null, best: false };

/**
 * The table of one kind of durations. real: figures of the cluster; week: {scheduler: [[Unix s, difference in ms]]};
 * mirrored: the run of the real cluster; ranked: whether the best values are marked.
 */
export function shadowTable({ rows }, { metrics, table, real, week, mirrored, ranked }) {
  const gpus = (real['utilization.gpu'] ?? null) !== null;
  const shown = metrics.filter((key) => (gpus ? key !== 'utilization.cpu' : !GPU.includes(key)));
  const columns = shown.map((key) => table.get(key));
  return h(
    'table',
    { class: 'list shadows' },
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'Scheduler'),
        columns.map(({ title, definition }) => h('th', { scope: 'col', class: 'number', title: definition }, title)),
        h(
          'th',
          {
            scope: 'col',
            title: 'Difference of the mean wait from the real one in the last week; below the line: shorter waits',
          },
          'Last week',
        ),
      ),
    ),
    h(
      'tbody',
      {},
      h(
        'tr',
        { class: 'real' },
        h(
          'th',
          { scope: 'row' },
          'Real cluster',
          mirrored ? links(h('a', { href: `/runs/${mirrored}/` }, 'open')) : null,
        ),
        columns.map(({ key, title, unit }) =>
          labelled(title, h('td', { class: 'number' }, valueText(real[key], unit))),
        ),
        labelled('Last week', h('td', {}, '–')),
      ),
      byTraining(rows).map(([title, own]) => [
        h('tr', { class: 'group' }, h('th', { scope: 'rowgroup', colspan: columns.length + 2 }, title)),
        own.map((row) => rowOf(row, columns, week[row.scheduler] ?? [], { mirrored, ranked })),
      ]),
    ),
  );
}

/** [title, rows] of each execution model, in the order of their first rows. */
export function byTraining(rows) {
  const found = new Map();
  for (const row of rows) found.set(row.training_title, [...(found.get(row.training_title) ?? []), row]);
  return [...found];
}

function rowOf(row, columns, points, { mirrored, ranked }) {
  const done = row.status === 'done';
  return h(
    'tr',
    { 'data-scheduler': row.scheduler },
    h(
      'th',
      { scope: 'row' },
      row.title,
      row.run
        ? links(
            h('a', { href: `/runs/${row.run}/` }, 'open'),
            mirrored && done ? [' · ', h('a', { href: `/compare/?runs=${mirrored},${row.run}` }, 'compare')] : null,
          )
        : null,
    ),
    done
      ? columns.map(({ key, title, unit }) => {
          const found = { ...NOTHING, ...row.cells[key] };
          const cell = comparedCell(ranked ? found : { ...found, verdict: null }, unit, {
            isBase: false,
            best: ranked ? 'best shadow' : '',
          });
          return labelled(title, cell);
        })
      : h(
          'td',
          { colspan: columns.length, class: row.status === 'failed' ? 'error wide' : 'muted wide' },
          row.status === 'failed' ? row.message : 'not computed',
        ),
    labelled('Last week', h('td', {}, sparkline(points, row.title))),
  );
}

/** A cell with its title, for cards; without a value it is left out of them, as of those of data-table.js. */
function labelled(title, cell) {
  cell.dataset.label = title;
  cell.classList.toggle('none', cell.textContent === '–');
  return cell;
}

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
