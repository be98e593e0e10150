// The range of time in which most of a run happens: the first range that a page shows.

import { NEVER, OPEN } from '../columns/bars.js';

const BULK = 0.98; // share of the bars that end in it
const SLACK = 1.08;
const WORTH = 0.75; // a range that is not shorter than this share of the run is the whole run
const MIN_BARS = 50; // bars of which each counts

/**
 * [from, to] in ms that holds the bulk of the bars; null where that is about the whole run, or bars are few.
 *
 * @param {import('../store.js').Store} store
 * @returns {[number, number] | null}
 */
export function busyRange({ bars, horizonMs }) {
  /** @type {number[]} */
  const ends = [];
  let first = Infinity;
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.died_ms[bar] !== NEVER || bars.end_ms[bar] >= OPEN) continue;
    ends.push(bars.end_ms[bar]);
    first = Math.min(first, bars.start_ms[bar]);
  }
  if (ends.length < MIN_BARS) return null;
  const sorted = Float64Array.from(ends).sort();
  const last = sorted[Math.floor(BULK * (sorted.length - 1))];
  const width = (last - first) * SLACK;
  if (!(width > 0) || width > WORTH * horizonMs) return null;
  const from = Math.max(0, first - (width - (last - first)) / 2);
  return [Math.floor(from), Math.ceil(from + width)];
}
