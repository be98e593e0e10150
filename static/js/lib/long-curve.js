// A curve of many steps: each value holds from its x to the next one. It answers what each pixel column has to show.

import { lowerBound, upperBound } from './search.js';
import { Pyramid } from './pyramid.js';

export class LongCurve {
  /** x in ms, rising; y; low and high: the edges of its band, if it has one. All Float64Array; NaN is a gap. */
  constructor({ x, y, low = null, high = null }) {
    Object.assign(this, { x, y, low, high });
    this.pyramids = new Map(); // built when they are first asked
  }

  /** Values [first, last) of y, low and high are others now. */
  changed(first, last) {
    for (const [name, pyramid] of this.pyramids) {
      if (pyramid.least[0].length === this[name].length) pyramid.changed(first, last);
      else pyramid.grown(this[name], first);
    }
  }

  /** {x, y} of the points from..to (ms) and of one neighbour on each side. */
  within(from, to) {
    const at = (i) => this.x[i];
    const first = Math.max(0, upperBound(this.x.length, from, at) - 1);
    const last = Math.min(this.x.length, lowerBound(this.x.length, to, at) + 1);
    return { x: this.x.subarray(first, last), y: this.y.subarray(first, last) };
  }

  /** [least, greatest] of the column `name` (y, low or high) over from..to; [Infinity, -Infinity] where there is none. */
  extremes(name, from, to) {
    const { low, high } = this.columns(name, spans(this.x, from, to, 1));
    return [low[0], high[0]];
  }

  /** {low, high} of the column `name` in each of the `spans`, with the value that still holds where a span begins. `found` may be given to be filled. */
  columns(name, { starts, ends }, found = { low: new Float64Array(starts.length), high: new Float64Array(starts.length) }) {
    if (!this.pyramids.has(name)) this.pyramids.set(name, new Pyramid(this[name]));
    this.pyramids.get(name).stretches(starts, ends, found.low, found.high);
    return found;
  }
}

/** Which points from..to (ms), cut into `count` columns, show in each: {starts, ends} Int32Array; nothing before the first and after the last. */
export function spans(x, from, to, count) {
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  const at = (i) => x[i];
  let start = lowerBound(x.length, from, at);
  for (let i = 0; i < count; i++) {
    const until = from + ((to - from) * (i + 1)) / count;
    let [low, high] = [start, Math.min(x.length, start + 1)];
    for (let step = 1; high < x.length && x[high - 1] < until; step *= 2) [low, high] = [high, Math.min(x.length, high + step)];
    const end = low + lowerBound(high - low, until, (k) => x[low + k]);
    starts[i] = start === x.length ? start : Math.max(0, start - 1);
    ends[i] = end;
    start = end;
  }
  return { starts, ends };
}
