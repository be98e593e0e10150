// Histogram of arrivals.

/**
 * @typedef {object} Histogram
 * @property {number} from_ms start of the first bin
 * @property {number} bin_ms width of each bin
 * @property {number[]} counts jobs in each bin
 */

/**
 * Jobs that arrive in [from, to) by the histogram; a bin that is cut counts by its share. null = open.
 *
 * @param {Histogram} histogram
 * @param {number | null} from
 * @param {number | null} to
 */
export function inWindow({ from_ms: first, bin_ms: bin, counts }, from, to) {
  return counts.reduce((sum, count, i) => {
    const left = Math.max(first + i * bin, from ?? -Infinity);
    const right = Math.min(first + (i + 1) * bin, to ?? Infinity);
    return sum + (right > left ? (count * (right - left)) / bin : 0);
  }, 0);
}

/**
 * [from, to) of all arrivals, ms.
 *
 * @param {Histogram} histogram
 */
export function span({ from_ms: first, bin_ms: bin, counts }) {
  return [first, first + bin * counts.length];
}
