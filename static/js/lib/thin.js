// Fewer points for long curves: of each bin of x what a pixel column can show.

/**
 * {x, y, low, high} of at most four points a bin: the first, least, greatest and last of the bin, in their order; low and high are
 * the least and greatest of the bin. Curves with fewer points than that are given back as they are.
 *
 * x rises; from, to: ms that are in the picture, of which `bins` are made; points outside, but for one neighbour on each side, are
 * left out. NaN (no value) is kept as a gap.
 */
export function thin({ x, y, low = y, high = y }, from, to, bins) {
  const first = Math.max(0, before(x, from));
  const last = Math.min(x.length - 1, before(x, to) + 1);
  if (last - first + 1 <= 4 * bins) return { x: x.subarray(first, last + 1), y: y.subarray(first, last + 1), low: low.subarray(first, last + 1), high: high.subarray(first, last + 1) };
  const out = { x: [], y: [], low: [], high: [] };
  const width = (to - from) / bins;
  for (let i = first; i <= last;) {
    const end = from + (Math.floor((x[i] - from) / width) + 1) * width;
    let [least, most, stop, bottom, top] = [i, i, i, Infinity, -Infinity];
    for (; stop <= last && x[stop] < end; stop++) {
      if (y[stop] < y[least] || Number.isNaN(y[least])) least = stop;
      if (y[stop] > y[most] || Number.isNaN(y[most])) most = stop;
      if (low[stop] < bottom) bottom = low[stop];
      if (high[stop] > top) top = high[stop];
    }
    if (stop === i) stop++; // rounding put the point into the bin before
    let known = -1;
    for (const at of [i, Math.min(least, most), Math.max(least, most), stop - 1]) {
      if (at === known) continue;
      known = at;
      out.x.push(x[at]);
      out.y.push(y[at]);
      out.low.push(bottom === Infinity ? NaN : bottom);
      out.high.push(top === -Infinity ? NaN : top);
    }
    i = stop;
  }
  return out;
}

/** The last position whose x is <= value; -1 when there is none. */
function before(x, value) {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (x[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
