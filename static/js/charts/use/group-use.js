// CPU and network that co-location groups use of the machines of each site over time.

import { NEVER } from '../../core/columns/bars.js';
import { colors } from '../../util/colors.js';
import { addInterval, binsBegun, meanUpTo, settle } from '../../util/interval-sums.js';
import { SHARE_AXIS } from './share-axis.js';
import { SITES } from '../../util/capacity.js';

const TRACKS = [
  ['cpu', 'CPU', 'comp_ms'],
  ['net', 'network', 'comm_ms'],
];

/**
 * {cpu, net}: mean number of machines of a site whose CPU, or whose network, is busy in each bin, as known at p; [site]
 * Float64Array. Each job iterates at its pace from the time at which it is ready (scheduling/colocation/metrics.py).
 */
export function groupUse({ groups, jobs, finished, simMs }, { cluster: { servers } }, p, from, width, bins) {
  const now = finished ? Math.min(p + 1, simMs) : p + 1; // the ms of p is included; with the run its groups end
  const sums = Object.fromEntries(TRACKS.map(([key]) => [key, SITES.map(() => new Float64Array(bins + 2))]));
  for (const [begin, until, data] of groups) {
    if (begin > p) continue;
    const site = SITES.indexOf(servers[data.servers[0]].site);
    const end = until === NEVER ? now : Math.min(until, now);
    data.jobs.forEach((job, place) => {
      const done = jobs.completed_ms[job]; // a group may outlast its jobs
      const over = done > NEVER ? Math.min(end, done) : end;
      for (const [key, , part] of TRACKS) {
        const busy = (data.machines * data[part][place]) / data.pace_ms[place];
        addInterval(sums[key][site], bins, from, width, Math.max(begin, data.ready_ms[place]), over, busy);
      }
    });
  }
  for (const sites of Object.values(sums)) sites.forEach((sum) => meanUpTo(settle(sum, bins), bins, from, width, p));
  return sums;
}

/** Mean number of available machines per bin, [site] Float64Array. */
export function machinesIn(servers, from, width, bins) {
  const sums = SITES.map(() => new Float64Array(bins + 2));
  const to = from + width * bins;
  for (const { site, away = [] } of servers) {
    const sum = sums[SITES.indexOf(site)];
    addInterval(sum, bins, from, width, from, to, 1);
    for (const [left, back] of away) addInterval(sum, bins, from, width, Math.max(left, from), Math.min(back, to), -1);
  }
  return sums.map((sum) => settle(sum, bins));
}

/** Used share of the available machines of a site, per bin: {cpu, net}, [site] Float64Array, NaN without machines. */
export function usedShares(store, info, p, from, width, bins) {
  const use = groupUse(store, info, p, from, width, bins);
  const machines = machinesIn(info.cluster.servers, from, width, bins);
  const shares = ([key]) => [
    key,
    use[key].map((sum, site) => sum.map((used, bin) => (machines[site][bin] > 0 ? used / machines[site][bin] : NaN))),
  ];
  return Object.fromEntries(TRACKS.map(shares));
}

/** Curves of the utilization of machines by groups: {curves, exact, y}. */
export function groupCurves(store, info) {
  const { servers } = info.cluster;
  const has = SITES.map((site) => servers.some((server) => server.site === site));
  const values = (p, from, width, bins) => {
    const shares = usedShares(store, info, p, from, width, bins);
    return TRACKS.flatMap(([key, title], track) =>
      SITES.map((site, i) => ({
        key: `${key}${i}`,
        name: `${site} ${title}`,
        track,
        site: i,
        share: shares[key][i],
      })),
    ).filter(({ site }) => has[site]);
  };
  const curves = (range, p, bins, width) => {
    const length = binsBegun(bins, range.from, width, p);
    const x = Float64Array.from({ length }, (_, i) => range.from + i * width);
    return values(p, range.from, width, bins).map(({ share, track, site, ...curve }) => ({
      ...curve,
      unit: '% of the available machines',
      color: [colors().accent, colors().warn][track],
      dash: site ? [5, 3] : [],
      x,
      y: share.subarray(0, length),
    }));
  };
  const exact = (t, p) =>
    t > p ? {} : Object.fromEntries(values(p, t, 1, 1).map(({ key, share }) => [key, share[0]]));
  return { curves, exact, y: SHARE_AXIS };
}
