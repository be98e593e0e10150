// Effect of edits before they run: available capacity and arrivals over time, with and without the edits.

import { fill, h, s } from '../ui/dom.js';
import { duration, number, plural } from '../util/format.js';
import { momentText } from '../util/time-text.js';

const [WIDTH, HEIGHT] = [1000, 64];
const UNITS = { gpu: 'GPU', cpu: 'vCPU' };

/** Text of a difference between two lists of steps, or '' if there is none. */
export function capacityText({ before, after }, unit) {
  const least = after.reduce((a, b) => (b[1] < a[1] ? b : a));
  const most = after.reduce((a, b) => (b[1] > a[1] ? b : a));
  const usual = before[0][1];
  const of = before.length === 1 ? ` of ${number(usual)}` : '';
  if (JSON.stringify(before) === JSON.stringify(after)) return '';
  if (least[1] < usual) return `lowest ${number(least[1])}${of} ${unit}, from ${momentText(least[0])}`;
  return `highest ${number(most[1])} instead of ${number(usual)} ${unit}, from ${momentText(most[0])}`;
}

/** '120 instead of 80 jobs in total', or '' if no interval differs. */
export function arrivalsText({ before, after }) {
  const sum = (counts) => counts.reduce((a, b) => a + b, 0);
  if (before.every((count, i) => count === after[i])) return '';
  if (sum(before) === sum(after)) return `the same number of jobs (${number(sum(after), 0)}), some at other times`;
  return `${number(sum(after), 0)} instead of ${plural(sum(before), 'job')} in total`;
}

/**
 * element: filled with two charts over the time from 0 to `to`; typed: whether the edit in the form is among the edits.
 */
export function paintCurves(element, curves, to, typed = false) {
  const { resource, capacity, arrivals } = curves;
  const unit = UNITS[resource] ?? resource;
  const most = Math.max(1e-9, ...[...capacity.before, ...capacity.after].map(([, amount]) => amount));
  const before = Math.max(0, ...arrivals.before);
  const peak = Math.max(1, before, ...arrivals.after);
  const every = curves.to_ms / arrivals.before.length;
  const step = (every / to) * WIDTH;
  const bars = (counts) =>
    counts
      .map((count, i) => (count ? `M${round(i * step)} ${HEIGHT}V${level(count, peak)}h${round(step)}V${HEIGHT}z` : ''))
      .join('');
  const edited = capacityText(capacity, unit);
  const moved = arrivalsText(arrivals);
  const what = typed ? 'With the edits and the input below' : 'With the edits';
  fill(
    element,
    chart(`Available ${unit}`, `0 to ${number(most)}`, edited, what, [
      edited ? s('path', { d: area(capacity, most, to), class: 'lost' }) : null,
      s('path', { d: steps(capacity.before, most, to), class: edited ? 'before' : 'after' }),
      edited ? s('path', { d: steps(capacity.after, most, to), class: 'after' }) : null,
    ]),
    chart('Arrivals', `bars: without the edits, at most ${plural(before, 'job')} in ${duration(every)}`, moved, what, [
      s('path', { d: bars(arrivals.before), class: 'bars' }),
      moved ? s('path', { d: outline(arrivals.after, peak, step), class: 'after' }) : null,
    ]),
  );
}

function chart(title, range, text, what, paths) {
  const label = `${title}: ${text ? `with the edits: ${text}` : 'not changed by the edits'}`;
  return h(
    'figure',
    { class: 'curve' },
    h(
      'figcaption',
      { class: 'small' },
      h('strong', {}, title),
      h('span', { class: 'muted' }, ` ${range}. `),
      text ? h('span', { class: 'edited' }, `${what}: ${text}`) : h('span', { class: 'muted' }, 'Not changed'),
    ),
    s(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
      paths.filter(Boolean),
    ),
  );
}

const round = (value) => Math.round(value * 10) / 10;
const level = (value, most) => round(HEIGHT - 2 - (value / most) * (HEIGHT - 6));

/** The path of steps up to the end. */
function steps(list, most, to) {
  const x = (ms) => round((Math.min(ms, to) / to) * WIDTH);
  const points = list.map(([at, amount], i) => `${i ? `H${x(at)}V` : `${x(at)} `}${level(amount, most)}`);
  return `M${points.join('')}H${WIDTH}`;
}

/** Between both curves: where they differ. */
function area({ before, after }, most, to) {
  const times = [...new Set([...before, ...after].map(([at]) => at))].sort((a, b) => a - b);
  const at = (list, ms) => list.findLast(([from]) => from <= ms)?.[1] ?? 0;
  const x = (ms) => round((Math.min(ms, to) / to) * WIDTH);
  return times
    .map((ms, i) => {
      const [a, b] = [at(before, ms), at(after, ms)];
      if (a === b) return '';
      return `M${x(ms)} ${level(a, most)}H${x(times[i + 1] ?? to)}V${level(b, most)}H${x(ms)}z`;
    })
    .join('');
}

function outline(counts, peak, step) {
  const points = counts.map((count, i) => `V${level(count, peak)}H${round((i + 1) * step)}`);
  return `M0 ${level(counts[0], peak)}${points.join('')}`;
}
