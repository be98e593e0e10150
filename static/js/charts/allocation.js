// Share of each resource of each site that is allocated over time, from the bars by difference arrays.

import { NEVER, demandOf } from '../core/bars.js';
import { serverAt } from '../util/capacity.js';
import { colors } from '../util/colors.js';
import { addInterval, settle } from '../util/interval-sums.js';

const SITES = ['edge', 'cloud'];
const AXIS = {
  min: 0,
  max: 1,
  border: { display: false },
  ticks: { stepSize: 0.25, callback: (v) => `${Math.round(v * 100)} %` },
};

/** Mean capacity in thousandths per bin, Float64Array [site * 5 + resource][bin]: an unavailable server has none. */
export function offered(servers, p, from, width, bins) {
  const sums = Array.from({ length: 10 }, () => new Float64Array(bins + 2));
  const to = from + width * bins;
  for (const server of servers) {
    const { site, capacity, away = [], was = [] } = serverAt(server, p);
    const offset = SITES.indexOf(site) * 5;
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
 * Mean allocated amount in thousandths per bin, Float64Array [site * 5 + resource][bin], as known at p: what jobs hold
 * on an unavailable server does not count, as its capacity does not.
 */
export function allocated({ bars }, info, p, from, width, bins) {
  const sums = Array.from({ length: 10 }, () => new Float64Array(bins + 2));
  const servers = info.cluster.servers.map((one) => serverAt(one, p));
  const siteOf = servers.map((server) => SITES.indexOf(server.site));
  const to = from + width * bins;
  const { start_ms: start, end_ms: end, born_ms: born, died_ms: died, server, count } = bars;
  for (let bar = 0; bar < bars.length; bar++) {
    if (
      start[bar] >= to ||
      end[bar] <= from ||
      born[bar] > p ||
      (died[bar] !== NEVER && died[bar] <= p) ||
      server[bar] < 0
    )
      continue;
    const offset = siteOf[server[bar]] * 5;
    for (let r = 0; r < 5; r++) {
      const amount = demandOf(bars, bar, r, info) * count[bar];
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
      const [site, r] = [Math.floor(i / 5), i % 5];
      if (!whole[i][0] || !info.used[r]) return [];
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
          sums.map((sum, i) => [`${Math.floor(i / 5)}${i % 5}`, room[i][0] > 0 ? sum[0] / room[i][0] : NaN]),
        ),
      };
    }
    return known.values;
  };
  return { curves, exact, y: AXIS };
}
