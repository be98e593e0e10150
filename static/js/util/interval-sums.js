// Intervals: joined, and summed over bins by difference arrays, O(1) per interval and O(bins) at the end.

/**
 * Intervals [begin, until], joined where they overlap or touch.
 *
 * @param {Iterable<readonly [number, number]>} intervals in order of their begin
 */
export function joined(intervals) {
  /** @type {[number, number][]} */
  const found = [];
  for (const [begin, until] of intervals) {
    const last = found.at(-1);
    if (last && begin <= last[1]) last[1] = Math.max(last[1], until);
    else found.push([begin, until]);
  }
  return found;
}

/**
 * Adds `amount` over [start, end) to the difference array `diff` (length bins + 2) of bins of `width` from `from`.
 *
 * @param {Float64Array} diff
 * @param {number} bins
 * @param {number} from
 * @param {number} width
 * @param {number} start
 * @param {number} end
 * @param {number} amount
 */
export function addInterval(diff, bins, from, width, start, end, amount) {
  const a = Math.max(0, (start - from) / width);
  const b = Math.min(bins, (end - from) / width);
  if (!(b > a)) return;
  const first = Math.floor(a);
  const last = Math.floor(b);
  const head = a - first;
  const tail = b - last;
  diff[first] += amount * (1 - head);
  diff[first + 1] += amount * head;
  diff[last] -= amount * (1 - tail);
  diff[last + 1] -= amount * tail;
}

/**
 * The mean of the sum in each bin: prefix sums of `diff`, in place; rounding dust becomes 0.
 *
 * @param {Float64Array} diff
 * @param {number} bins
 */
export function settle(diff, bins) {
  let sum = 0;
  for (let i = 0; i < bins; i++) {
    sum += diff[i];
    diff[i] = Math.abs(sum) < 1e-9 ? 0 : sum;
  }
  return diff;
}

/**
 * Sets the bins that begin before the given time to NaN (unknown), in place.
 *
 * @template {Float64Array} T
 * @param {T} values one per bin
 * @param {number} from
 * @param {number} width
 * @param {number} ms
 */
export function blankBefore(values, from, width, ms) {
  return ms > from ? values.fill(NaN, 0, Math.ceil((ms - from) / width)) : values;
}

/**
 * Makes the bin that contains p the mean of its part up to p: nothing after p was added to `sum`, a settled array.
 *
 * @param {Float64Array} sum
 * @param {number} bins
 * @param {number} from
 * @param {number} width
 * @param {number} p
 */
export function meanUpTo(sum, bins, from, width, p) {
  const bin = Math.floor((p - from) / width);
  if (bin < 0 || bin >= bins) return sum;
  const part = (p + 1 - from) / width - bin; // the ms of p is included
  if (part < 1) sum[bin] /= part;
  return sum;
}

/**
 * Number of bins that have begun by p.
 *
 * @param {number} bins
 * @param {number} from
 * @param {number} width
 * @param {number} p
 */
export function binsBegun(bins, from, width, p) {
  return Math.max(0, Math.min(bins, Math.ceil((p - from) / width)));
}
