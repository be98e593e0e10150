// Curve of many steps: each value is valid from its x to the next one. Computes what each pixel column shows.

import { lowerBound, upperBound } from './binary-search.js';
import { Pyramid } from './min-max-pyramid.js';

/** @typedef {'y' | 'low' | 'high'} Edge */
/** @typedef {{starts: Int32Array, ends: Int32Array}} Spans */

export class LongCurve {
  /**
   * A curve of its points; NaN is a gap.
   *
   * @param {object} points
   * @param {Float64Array} points.x ms, rising
   * @param {Float64Array} points.y
   * @param {Float64Array | null} [points.low] the edges of its band, if it has one
   * @param {Float64Array | null} [points.high]
   */
  constructor({ x, y, low = null, high = null }) {
    this.x = x;
    this.y = y;
    this.low = low;
    this.high = high;
    /** @type {Map<Edge, Pyramid>} */
    this.pyramids = new Map(); // built on first use
  }

  /**
   * Updates after a change of the values [first, last) of y, low and high.
   *
   * @param {number} first
   * @param {number} last
   */
  changed(first, last) {
    for (const [name, pyramid] of this.pyramids) {
      const values = this.#values(name);
      if (pyramid.least[0].length === values.length) pyramid.changed(first, last);
      else pyramid.grown(values, first);
    }
  }

  /**
   * {x, y} of the points from..to (ms) and of one neighbour on each side.
   *
   * @param {number} from
   * @param {number} to
   */
  within(from, to) {
    /** @param {number} i */
    const at = (i) => this.x[i];
    const first = Math.max(0, upperBound(this.x.length, from, at) - 1);
    const last = Math.min(this.x.length, lowerBound(this.x.length, to, at) + 1);
    return { x: this.x.subarray(first, last), y: this.y.subarray(first, last) };
  }

  /**
   * [least, greatest] of the column `name` (y, low or high) over from..to; [Infinity, -Infinity] where there is none.
   *
   * @param {Edge} name
   * @param {number} from
   * @param {number} to
   */
  extremes(name, from, to) {
    const { low, high } = this.columns(name, spans(this.x, from, to, 1));
    return [low[0], high[0]];
  }

  /**
   * {low, high} of the column `name` in each of the `spans`, including the value at the beginning of the span.
   *
   * @param {Edge} name
   * @param {Spans} spans
   * @param {{low: Float64Array, high: Float64Array}} found filled; made when it is not given
   */
  columns(name, { starts, ends }, found = room(starts.length)) {
    let pyramid = this.pyramids.get(name);
    if (!pyramid) this.pyramids.set(name, (pyramid = new Pyramid(this.#values(name))));
    pyramid.stretches(starts, ends, found.low, found.high);
    return found;
  }

  /** @param {Edge} name */
  #values(name) {
    const values = this[name];
    if (!values) throw new Error(`the curve has no column ${name}: it was made without a band`);
    return values;
  }
}

/** @param {number} count */
function room(count) {
  return { low: new Float64Array(count), high: new Float64Array(count) };
}

/**
 * Points from..to (ms), cut into `count` columns, show in each; nothing before the first and after the last.
 *
 * @param {Float64Array} x
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @returns {Spans}
 */
export function spans(x, from, to, count) {
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  /** @param {number} i */
  const at = (i) => x[i];
  let start = lowerBound(x.length, from, at);
  for (let i = 0; i < count; i++) {
    const until = from + ((to - from) * (i + 1)) / count;
    let [low, high] = [start, Math.min(x.length, start + 1)];
    for (let step = 1; high < x.length && x[high - 1] < until; step *= 2) {
      [low, high] = [high, Math.min(x.length, high + step)];
    }
    const end = low + lowerBound(high - low, until, (k) => x[low + k]);
    starts[i] = start === x.length ? start : Math.max(0, start - 1);
    ends[i] = end;
    start = end;
  }
  return { starts, ends };
}
