// Curves of quantiles: the share of jobs at a value, and whether and how an axis in powers of ten suits them.

/** The share (0..1) of a quantile curve's jobs whose value is at most x; values rise, one for each of equal shares. */
export function shareAt(values, x) {
  if (!values.length) return null;
  const last = values.length - 1;
  if (x < values[0]) return 0;
  if (x >= values[last]) return 1;
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (values[middle] <= x) low = middle;
    else high = middle;
  }
  return (low + (x - values[low]) / (values[high] - values[low])) / last;
}

/** True if an axis over these curves reads better in powers of ten: the upper values are far from the lower ones. */
export function wide(curves) {
  const of = (i) => curves.map(({ values }) => values[i]).filter((value) => value > 0);
  const [low, high] = [Math.min(...of(5)), Math.max(...of(100))];
  return Number.isFinite(low) && Number.isFinite(high) && high / low > 30;
}

const MINUTE = 60_000;
const ROUND_MS = [
  1,
  10,
  100,
  1000,
  2000,
  5000,
  10_000,
  20_000,
  30_000,
  ...[
    1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1440, 2880, 7200, 14_400, 28_800, 72_000, 144_000, 288_000, 720_000,
    1_440_000,
  ].map((m) => m * MINUTE),
];

/** Round values of an axis in powers of ten, at most `most` of them: lengths of time, or 1, 2, 5 and their tenfolds. */
export function logTicks(from, to, unit = 'ms', most = 6) {
  const found = (unit === 'ms' ? ROUND_MS : tenfolds(from, to)).filter((value) => value >= from && value <= to);
  const step = Math.max(1, Math.ceil(found.length / most));
  return found.filter((_, i) => (found.length - 1 - i) % step === 0);
}

function tenfolds(from, to) {
  const values = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
    values.push(...[1, 2, 5].map((digit) => Number(`${digit}e${power}`)));
  return values;
}
