// Trade-off of two metrics: one point for each run, and a line through those that no other run beats in both.

import { runLabel } from '../core/run-info.js';
import { valueText } from '../core/metric-table.js';
import { h, s } from '../ui/dom.js';
import { lowered } from '../util/format.js';

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [262, 64, 92, 26, 42];
const [WIDE, NARROW] = [420, 340]; // px: about as wide as its place, so that its texts keep their size
const CHARACTER = 6; // width of one in a name, about
const MARGIN = 0.06; // of the range, around the points
const [NEAR, LINE] = [12, 9]; // px: labels at points that are no farther apart would cover each other
const MAX_DOT_PX = 5; // radius of a point

/**
 * x, y: metrics, of which lower x and higher y are better; points: {x, y} of each run; front: positions of the points
 * on the line; runs: with title and id, which is the label where the title has no room.
 *
 * @param {{ x: any, y: any, points: { x: number, y: number }[] }} of
 * @param {number[]} front
 * @param {{ id: number, title: string }[]} runs
 */
export function paretoChart({ x, y, points }, front, runs) {
  const names = runs.map((run) =>
    runs.filter(({ title }) => title === run.title).length > 1 ? runLabel(run) : run.title,
  );
  const width = innerWidth <= 640 ? NARROW : WIDE;
  const [toX, ticksX] = scale(
    points.map((point) => point.x),
    LEFT,
    width - RIGHT,
  );
  const [toY, ticksY] = scale(
    points.map((point) => point.y),
    HEIGHT - BOTTOM,
    TOP,
  );
  const best = new Set(front);
  const named = labelled(points, best, toX, toY, names, width);
  const places = together(points, best, toX, toY);
  const numbered = points.map((_, i) => i).filter((i) => !named.has(i) || !places.has(i)); // named in the caption
  const label = (i) => {
    const others = (places.get(i) ?? []).filter((j) => numbered.includes(j));
    const ids = (named.has(i) ? others : [i, ...others]).map((j) => runs[j].id).sort((a, b) => a - b);
    return [...(named.has(i) ? [names[i]] : []), ...ranges(ids)].join(', ');
  };
  const text = (cx, cy, words, more = {}) => s('text', { x: cx, y: cy, class: 'axis', ...more }, words);
  const endOf = (i) => {
    const near = places.get(i).filter((j) => Math.abs(toY(points[j].y) - toY(points[i].y)) < LINE);
    const there = near.map((j) => toX(points[j].x)).filter((cx) => cx - toX(points[i].x) < 2 * NEAR);
    return Math.max(toX(points[i].x), ...there);
  };
  const spots = freeSpots(points, toX, toY, width);
  const labels = [...places.keys()].map((i) => {
    const words = label(i);
    const wide = words.length * CHARACTER;
    const { x: left, y: line, anchor } = spots(toX(points[i].x), toY(points[i].y), endOf(i), wide);
    return text(left, line, words, { 'text-anchor': anchor, class: `axis label${best.has(i) ? ' best' : ''}` });
  });
  const beats = front.map((i) => runLabel(runs[i])).join(', ');
  return h(
    'figure',
    { class: 'pareto' },
    s(
      'svg',
      {
        viewBox: `0 0 ${width} ${HEIGHT}`,
        role: 'img',
        'aria-label': `${y.title} against ${x.title}. Runs that no other run beats in both metrics: ${beats}.`,
      },
      s('line', { x1: LEFT, x2: width - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM, class: 'base' }),
      s('line', { x1: LEFT, x2: LEFT, y1: TOP, y2: HEIGHT - BOTTOM, class: 'base' }),
      ticksX.map((value, i) =>
        text(toX(value), HEIGHT - BOTTOM + 15, valueText(value, x.unit), { 'text-anchor': i ? 'end' : 'start' }),
      ),
      ticksY.map((value) => text(LEFT - 6, toY(value) + 4, valueText(value, y.unit), { 'text-anchor': 'end' })),
      text((LEFT + width - RIGHT) / 2, HEIGHT - 6, `${x.title} (lower is better)`, { 'text-anchor': 'middle' }),
      text(4, 11, `${y.title} (higher is better)`),
      s('polyline', { points: front.map((i) => `${toX(points[i].x)},${toY(points[i].y)}`).join(' '), class: 'front' }),
      points.map((point, i) =>
        s(
          'g',
          { class: best.has(i) ? 'point best' : 'point' },
          s(
            'circle',
            {
              cx: toX(point.x),
              cy: toY(point.y),
              r: best.has(i) ? MAX_DOT_PX : MAX_DOT_PX - 1,
              fill: `var(--job-${i % 8})`, // as runMark
            },
            s('title', {}, `${runLabel(runs[i])}: ${valueText(point.x, x.unit)}, ${valueText(point.y, y.unit)}`),
          ),
        ),
      ),
      labels,
    ),
    h(
      'figcaption',
      { class: 'muted small' },
      `${y.title} against ${lowered(x.title)}. `,
      front.length > 1
        ? 'The line joins the runs that no other run beats in both metrics.'
        : `No other run beats ${beats} in either metric.`,
      numbered.length ? ` Numbers are those of runs: ${numbered.map((i) => runLabel(runs[i])).join(', ')}.` : '',
    ),
  );
}

/**
 * [value -> pixel, [least, largest value]]; equal values are in the middle.
 *
 * @param {number[]} values
 * @param {number} from
 * @param {number} to
 * @returns {[(value: number) => number, number[]]}
 */
function scale(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) return [() => (from + to) / 2, [low]];
  const [least, span] = [low - MARGIN * (high - low), (1 + 2 * MARGIN) * (high - low)];
  return [(value) => from + ((value - least) / span) * (to - from), [low, high]];
}

/**
 * Function that finds the place of a label beside its point, where it covers no point and no other label: (x, y, end,
 * width in px) -> {x, y, anchor}; end: x of the last point that shares the label. If there is no such place, the label
 * is to the right of that point, or as far to the right as the chart goes.
 */
function freeSpots(points, toX, toY, width) {
  const taken = points.map(({ x, y }) => [
    toX(x) - MAX_DOT_PX,
    toY(y) - MAX_DOT_PX,
    toX(x) + MAX_DOT_PX,
    toY(y) + MAX_DOT_PX,
  ]);
  const isFree = (left, top, right, bottom) =>
    left >= LEFT &&
    right <= width &&
    top >= 0 &&
    bottom <= HEIGHT - BOTTOM &&
    taken.every(([l, t, r, b]) => left >= r || right <= l || top >= b || bottom <= t);
  return (cx, cy, end, wide) => {
    const spots = [
      { x: end + 8, y: cy + 4, anchor: 'start', left: end + 8 },
      { x: cx - 8, y: cy + 4, anchor: 'end', left: cx - 8 - wide },
      { x: cx, y: cy - 8, anchor: 'middle', left: cx - wide / 2 },
      { x: cx, y: cy + 16, anchor: 'middle', left: cx - wide / 2 },
    ];
    const free = spots.find(({ y, left }) => isFree(left, y - LINE, left + wide, y + 1));
    const left = Math.max(0, Math.min(end + 8, width - wide));
    const found = free ?? { x: left, y: cy + 4, anchor: 'start', left };
    taken.push([found.left, found.y - LINE, found.left + wide, found.y + 1]);
    return found;
  };
}

/** Positions, those on the line first. */
const inOrder = (points, best) =>
  points.map((_, i) => i).sort((a, b) => Number(best.has(b)) - Number(best.has(a)) || a - b);

/** {position with a label: positions of the other points there, which share it} */
function together(points, best, toX, toY) {
  const places = new Map();
  const near = (i, head) =>
    Math.abs(toX(points[i].x) - toX(points[head].x)) <= NEAR &&
    Math.abs(toY(points[i].y) - toY(points[head].y)) <= NEAR;
  for (const i of inOrder(points, best)) {
    const head = [...places.keys()].find((other) => near(i, other));
    if (head === undefined) places.set(i, []);
    else places.get(head).push(i);
  }
  return places;
}

/** ['1', '3–5'] of 1, 3, 4, 5. @param {number[]} numbers in rising order */
function ranges(numbers) {
  const found = [];
  for (const each of numbers) {
    const last = found.at(-1);
    if (last?.[1] === each - 1) last[1] = each;
    else found.push([each, each]);
  }
  return found.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`));
}

/** Positions whose names are shown: those on the line first, none over another or beyond the edge. */
function labelled(points, best, toX, toY, names, width) {
  const shown = [];
  for (const i of inOrder(points, best)) {
    const [px, py] = [toX(points[i].x), toY(points[i].y)];
    if (px + 8 + names[i].length * CHARACTER > width) continue;
    if (shown.every(({ x, y }) => Math.abs(y - py) > 12 || Math.abs(x - px) > 100)) shown.push({ i, x: px, y: py });
  }
  return new Set(shown.map(({ i }) => i));
}
