// Allocated against used: the share of each resource that jobs hold, beside the share that the servers with samples
// really used, and how busy their GPUs were. Without samples it is the chart of what is allocated.

import { colors } from '../../util/colors.js';
import { number, plural } from '../../util/format.js';
import { addInterval, binsBegun, blankBefore, settle } from '../../util/interval-sums.js';
import { allocationCurves } from './allocation.js';
import { SITES } from '../../util/capacity.js';

const USED = ['gpu', 'cpu', 'memory']; // [resource] columns of the samples' sums
const KEY = /^(?<of>used|busy)(?<site>\d)(?<resource>\d)?$/; // of a sum
const DOTS = [
  [2, 3],
  [2, 3, 8, 3],
]; // of a site

/**
 * Share per bin of each sum over its whole, as known at p: {key: Float64Array}, NaN where nothing was sampled. Keys:
 * used + site + resource, busy + site.
 */
export function usedShares({ samples: { use } }, p, from, width, bins) {
  const sums = new Map();
  const to = from + width * bins;
  const next = [Infinity, Infinity]; // start of the sums after the row
  for (let row = use.length - 1; row >= 0; row--) {
    const [begin, site] = [use.at_ms[row], use.site[row]];
    const end = Math.min(use.until_ms[row], next[site], p + 1); // the ms of the time shown counts, too
    next[site] = begin;
    if (begin > p || end <= from || begin >= to) continue;
    const parts = USED.map((name, r) => [`used${site}${r}`, use[name][row], use[`${name}_of`][row]]);
    for (const [key, amount, whole] of [...parts, [`busy${site}`, use.busy[row], use.busy_of[row]]]) {
      if (!whole) continue;
      if (!sums.has(key)) sums.set(key, [new Float64Array(bins + 2), new Float64Array(bins + 2)]);
      const [above, below] = sums.get(key);
      addInterval(above, bins, from, width, begin, end, amount);
      addInterval(below, bins, from, width, begin, end, whole);
    }
  }
  const shares = [...sums].map(([key, [above, below]]) => {
    settle(above, bins);
    settle(below, bins);
    return [key, Float64Array.from({ length: bins }, (_, i) => (below[i] > 0 ? above[i] / below[i] : NaN))];
  });
  return Object.fromEntries(shares);
}

/** Curves of what is allocated and used: {curves, exact, y, note}. */
export function observedCurves(store, info) {
  const allocation = allocationCurves(store, info);
  const { servers } = info.cluster;
  const both = SITES.every((site) => servers.some((server) => server.site === site));
  const named = (site, text) => (both ? `${SITES[site]} ${text}` : text);
  const sampled = () => store.samples.use.length > 0;
  const curves = (range, p, bins, width) => {
    const known = binsBegun(bins, range.from, width, p); // open bars have no end
    const seen = (y) => blankBefore(y, range.from, width, store.seenFromMs);
    const cut = ({ x, y, ...curve }) => ({ ...curve, x: x.subarray(0, known), y: seen(y.subarray(0, known)) });
    return all(range, p, bins, width).map(cut);
  };
  const all = (range, p, bins, width) => {
    const held = allocation.curves(range, p, bins, width);
    if (!sampled()) return held;
    const shares = usedShares(store, p, range.from, width, bins);
    const x = Float64Array.from({ length: bins }, (_, i) => range.from + i * width);
    const used = Object.keys(shares)
      .sort()
      .map((key) => {
        const y = shares[key];
        const sum = KEY.exec(key).groups;
        const site = Number(sum.site);
        const r = sum.of === 'used' ? Number(sum.resource) : null;
        const about =
          r === null
            ? { name: named(site, 'GPU busy'), unit: '% of the time', color: colors().ink, dash: site ? [5, 3] : [] }
            : {
                name: named(site, `${info.names[r]} used`),
                unit: '% of the capacity of the sampled servers',
                color: colors().resources[r],
                dash: DOTS[site],
              };
        return { key, r, site, ...about, x, y };
      });
    const pairs = held.flatMap((curve) => [
      { ...curve, name: `${curve.name} allocated` },
      ...used.filter(({ key }) => key === `used${curve.key}`),
    ]);
    return [...pairs, ...used.filter(({ r }) => r === null)];
  };
  const exact = (t, p) => {
    if (t < store.seenFromMs) return {};
    const found = t > p ? {} : usedShares(store, p, t, 1, 1);
    return {
      ...allocation.exact(t, p),
      ...Object.fromEntries(Object.entries(found).map(([key, values]) => [key, values[0]])),
    };
  };
  return { ...allocation, curves, exact, note: (p) => sampledNote(store, info, p) };
}

/** 'Used: samples of 12 of 14 servers at the time shown.', at the moment p; '' without samples. */
export function sampledNote({ samples: { use } }, info, p) {
  if (!use.length) return '';
  const newest = new Map();
  for (let row = 0; row < use.length; row++)
    if (use.at_ms[row] <= p) newest.set(use.site[row], use.until_ms[row] > p ? use.servers[row] : 0);
  const count = [...newest.values()].reduce((sum, servers) => sum + servers, 0);
  return `Used: samples of ${number(count, 0)} of ${plural(info.cluster.servers.length, 'server')} at the time shown.`;
}
