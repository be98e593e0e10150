// Share of each resource of each site that is allocated over time, from the bars by difference arrays.

import { heldBy, validAt } from '../../core/columns/bars.js';
import { RESOURCE_COUNT, SITES, placesOf, serverAt } from '../../util/capacity.js';
import { colors } from '../../util/colors.js';
import { addInterval, settle } from '../../util/interval-sums.js';
import { SHARE_AXIS } from './share-axis.js';

/** Mean capacity in thousandths per bin, Float64Array [site, resource][bin]: an unavailable server has none. */
export function offered(servers, p, from, width, bins) {
  const sums = Array.from({ length: SITES.length * RESOURCE_COUNT }, () => new Float64Array(bins + 2));
  const to = from + width * bins;
  for (const server of servers) {
    const { site, capacity, away = [], was = [] } = serverAt(server, p);
    const offset = SITES.indexOf(site) * RESOURCE_COUNT;
    let begins = -Infinity;
    for (const [until, amounts] of [...was, [Infinity, capacity]]) {
      const [first, past] = [Math.max(begins, from), Math.min(until, to)];
      begins = until;
      if (past <= first) continue;
      amounts.forEach((amount, r) => {
        if (!amount) return;
        addInterval(sums[offset + r], bins, from, width, first, past, amount);
        for (const [left, back] of away)
          addInterval(sums[offset + r], bins, from, width, Math.max(left, first), Math.min(back, past), -amount);
      });
    }
  }
  return sums.map((sum) => settle(sum, bins));
}

/**
 * Mean allocated amount in thousandths per bin, Float64Array [site, resource][bin], as known at p: what jobs hold
 * on an unavailable server does not count, as its capacity does not.
 */
export function allocated({ bars }, info, p, from, width, bins) {
  const sums = Array.from({ length: SITES.length * RESOURCE_COUNT }, () => new Float64Array(bins + 2));
  const servers = info.cluster.servers.map((one) => serverAt(one, p));
  const siteOf = servers.map((server) => SITES.indexOf(server.site));
  const to = from + width * bins;
  const { start_ms: start, end_ms: end, server } = bars;
  for (let bar = 0; bar < bars.length; bar++) {
    if (start[bar] >= to || end[bar] <= from || server[bar] < 0 || !validAt(bars, bar, p)) continue;
    const offset = siteOf[server[bar]] * RESOURCE_COUNT;
    for (let r = 0; r < RESOURCE_COUNT; r++) {
      const amount = heldBy(bars, bar, r, info);
      if (!(amount > 0)) continue;
      addInterval(sums[offset + r], bins, from, width, start[bar], end[bar], amount);
      for (const [left, back] of servers[server[bar]].away ?? []) {
        const [first, past] = [Math.max(left, start[bar]), Math.min(back, end[bar])];
        addInterval(sums[offset + r], bins, from, width, first, past, -amount);
      }
    }
  }
  return sums.map((sum) => settle(sum, bins));
}

/** Curves of allocated shares: {curves, exact, y}. */
export function allocationCurves(store, info) {
  const { servers } = info.cluster;
  const whole = offered(
    servers.map((server) => ({ ...server, away: [], away_was: undefined })),
    0,
    0,
    1,
    1,
  );
  const bothSites = SITES.every((site) => servers.some((server) => server.site === site));
  const curves = (range, p, bins, width) => {
    const sums = allocated(store, info, p, range.from, width, bins);
    const room = offered(servers, p, range.from, width, bins);
    const x = Float64Array.from({ length: bins }, (_, i) => range.from + i * width);
    return sums.flatMap((sum, i) => {
      const [site, r] = placesOf(i);
      const [exists] = whole[i];
      if (!exists || !info.used[r]) return [];
      const name = bothSites ? `${SITES[site]} ${info.names[r]}` : info.names[r];
      return [
        {
          key: `${site}${r}`,
          name,
          unit: '% of capacity',
          color: colors().resources[r],
          dash: site ? [5, 3] : [],
          x,
          y: sum.subarray(0, bins).map((v, bin) => (room[i][bin] > 0 ? v / room[i][bin] : NaN)),
        },
      ];
    });
  };
  let known = { key: '', values: {} };
  const exact = (t, p) => {
    const key = `${t} ${p} ${store.bars.length}`;
    if (known.key !== key) {
      const [sums, room] = [allocated(store, info, p, t, 1, 1), offered(servers, p, t, 1, 1)];
      known = {
        key,
        values: Object.fromEntries(
          sums.map(([amount], i) => {
            const [capacity] = room[i];
            return [placesOf(i).join(''), capacity > 0 ? amount / capacity : NaN];
          }),
        ),
      };
    }
    return known.values;
  };
  return { curves, exact, y: SHARE_AXIS };
}
