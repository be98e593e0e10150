// Time span of the arrivals of the selected jobs, from the counts of the scan.
//
// Two counts bound the arrival of the n-th job: the histogram, and the arrivals of some jobs by their place ("ranks").

const MAX_DOUBT = 0.2; // a span is stated only if its bounds differ by at most this share

/**
 * [least, most] ms between the first and the last selected job, or null if these are too far from each other. choice:
 * {from_ms, to_ms, limit}, each may be undefined.
 */
export function arrivalSpan(arrivals, { from_ms: from, to_ms: to, limit }) {
  const total = sum(arrivals.counts);
  const [least, most] = before(arrivals, from ?? 0);
  const [fewest, upTo] = to === undefined || to === null ? [total, total] : before(arrivals, to);
  if (most >= fewest) return null; // perhaps no job at all
  const begin = [Math.max(from ?? 0, bounds(arrivals, least + 1)[0]), bounds(arrivals, most + 1)[1]];
  const cut = limit === undefined ? Infinity : limit;
  const end = [
    bounds(arrivals, Math.min(least + cut, fewest))[0],
    Math.min(to ?? Infinity, bounds(arrivals, Math.min(most + cut, upTo))[1]),
  ];
  const [low, high] = [Math.max(0, end[0] - begin[1]), end[1] - begin[0]];
  if (high - low > MAX_DOUBT * high) return null;
  return [low, high];
}

/** [at least, at most] number of jobs that arrive before `ms`. */
function before({ from_ms: first, bin_ms: bin, counts }, ms) {
  const place = (ms - first) / bin;
  const at = (n) => sum(counts.slice(0, Math.max(0, n)));
  return [at(Math.floor(place)), at(Math.ceil(place))];
}

/** [earliest, latest] arrival of the n-th job by arrival, from 1 on. */
function bounds({ from_ms: first, bin_ms: bin, counts, ranks = [] }, n) {
  let bins = 0;
  for (let jobs = 0; bins < counts.length && jobs + counts[bins] < n; bins++) jobs += counts[bins];
  const low = ranks.findLast(([rank]) => rank <= n)?.[1] ?? -Infinity;
  const high = ranks.find(([rank]) => rank >= n)?.[1] ?? Infinity;
  return [Math.max(low, first + bins * bin), Math.min(high, first + (bins + 1) * bin - 1)];
}

function sum(counts) {
  return counts.reduce((total, count) => total + count, 0);
}
