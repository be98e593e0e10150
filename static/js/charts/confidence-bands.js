// Curves with their 95 % confidence bands over a numeric axis: one curve for each value of the other axis, if there is
// one.

import { JOB_COLORS } from '../util/colors.js';
import { fill, h, s } from '../ui/dom.js';
import { capital, roundStep, timeStep } from '../util/format.js';

const MAX_INTERVALS = 4; // in the range of the values; rounding its ends can add one
const MIN_LOG_RATIO = 50; // ratio of the largest to the smallest x, both positive, from which the axis is logarithmic
const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [274, 64, 16, 24, 34];

/**
 * unit: of the values, as in the table of metrics; curves: [{title, points: [{x, mean, half}]}]; text(y) and xText(x)
 * write a value; seeds: number per point at the end; complete: whether all runs have finished.
 */
export function bands(element, { title, unit, xTitle, xText = String, curves, text, seeds, complete }) {
  const width = Math.max(280, element.clientWidth);
  const points = curves.flatMap((curve) => curve.points);
  if (!points.length) return fill(element);
  const xs = points.map(({ x }) => x);
  const lows = points.map(({ mean, half }) => mean - (half ?? 0));
  const highs = points.map(({ mean, half }) => mean + (half ?? 0));
  const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
  let [y0, y1] = [Math.min(...lows), Math.max(...highs)];
  if (y0 === y1) [y0, y1] = [y0 - Math.abs(y0) * 0.1 - 1e-9, y1 + Math.abs(y1) * 0.1 + 1e-9];
  const step = (unit === 'ms' ? timeStep : roundStep)((y1 - y0) / MAX_INTERVALS);
  [y0, y1] = [Math.floor(y0 / step) * step, Math.ceil(y1 / step) * step];
  const log = x0 > 0 && x1 / x0 >= MIN_LOG_RATIO && new Set(xs).size > 2;
  const share = (x) => (log ? Math.log(x / x0) / Math.log(x1 / x0) : (x - x0) / Math.max(x1 - x0, 1e-12));
  const px = (x) => LEFT + share(x) * (width - LEFT - RIGHT);
  const py = (y) => TOP + ((y1 - y) / (y1 - y0)) * (HEIGHT - TOP - BOTTOM);
  const drawn = s('svg', {
    class: 'bands',
    width,
    height: HEIGHT,
    viewBox: `0 0 ${width} ${HEIGHT}`, // a sheet of paper may be narrower than the window
    role: 'img',
    'aria-label': `${title} over ${xTitle}; the table above has the same values`,
  });
  drawn.append(s('text', { x: 4, y: 11 }, title));
  const intervals = Math.round((y1 - y0) / step);
  for (let i = 0; i <= intervals; i++) {
    const y = y0 + i * step;
    drawn.append(
      s('line', { x1: LEFT, x2: width - RIGHT, y1: py(y), y2: py(y), class: 'grid' }),
      s('text', { x: LEFT - 6, y: py(y) + 4, 'text-anchor': 'end' }, text(y)),
    );
  }
  const ticks = [...new Set(xs)].sort((a, b) => a - b);
  let edge = -Infinity;
  for (const x of ticks) {
    if (px(x) < edge) continue;
    edge = px(x) + 40;
    drawn.append(s('text', { x: px(x), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle' }, xText(x)));
  }
  drawn.append(
    s(
      'text',
      { x: LEFT + (width - LEFT - RIGHT) / 2, y: HEIGHT - 3, 'text-anchor': 'middle' },
      log ? `${xTitle} (logarithmic)` : xTitle,
    ),
  );
  curves.forEach((curve, i) => {
    if (!curve.points.length) return; // no run of it has finished
    const own = [...curve.points].sort((a, b) => a.x - b.x);
    const path = (list) => list.map(([x, y], n) => `${n ? 'L' : 'M'}${px(x).toFixed(1)},${py(y).toFixed(1)}`).join('');
    const up = own.map(({ x, mean, half }) => [x, mean + (half ?? 0)]);
    const down = own.map(({ x, mean, half }) => [x, mean - (half ?? 0)]).reverse();
    const color = `var(--job-${i % JOB_COLORS})`;
    drawn.append(
      s('path', { d: `${path([...up, ...down])}Z`, fill: color, opacity: 0.18 }),
      s('path', { d: path(own.map(({ x, mean }) => [x, mean])), fill: 'none', stroke: color, 'stroke-width': 2 }),
    );
    for (const { x, mean } of own) drawn.append(s('circle', { cx: px(x), cy: py(mean), r: 3, fill: color }));
  });
  const legend = document.createElement('p');
  legend.className = 'muted small curve-key';
  curves.forEach((curve, i) => {
    const mark = document.createElement('i');
    mark.className = `swatch job-${i % JOB_COLORS}`;
    if (curve.title && curve.points.length) legend.append(h('span', { class: 'nowrap' }, mark, curve.title), ' ');
  });
  const about = capital(spread(points, seeds, complete));
  legend.append(curves[0].title ? h('span', { class: 'of' }, about) : about);
  return fill(element, drawn, legend);
}

/** Meaning of the bands for the seeds; only a complete sweep can show that results do not depend on them. */
export function spread(points, seeds, complete) {
  if (points.some(({ half }) => half)) return 'bands: 95 % confidence interval of the mean over the seeds';
  if (seeds < 2) return 'one seed only: no confidence interval';
  if (!complete) return 'no confidence interval yet: not all runs have finished';
  return points.every(({ half }) => half !== null)
    ? 'all seeds give equal results: the runs do not depend on the seed'
    : 'some points have one value only: no confidence interval';
}
