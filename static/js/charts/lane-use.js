// Workers of typed lanes that run over time: of each site together, of each type, and of the cloud without limit.

import { colors } from '../lib/colors.js';
import { percent } from '../lib/format.js';
import { addInterval, settle } from '../lib/usage.js';
import { CLOUD, WORKER, trueAt } from '../store.js';
import { Curves } from './curves.js';

const SITES = ['edge', 'cloud'];

/** [{key, name, site, kind}]: all workers of each site, each type of each site, and last the unlimited cloud where there is one. */
export function kindsOf({ cluster, lanes }) {
  const found = [];
  SITES.forEach((site, s) => {
    const has = lanes.kinds.map((_, kind) => cluster.servers.some((server, i) => server.site === site && lanes.workers[i][kind]));
    if (has.some(Boolean)) found.push({ key: `${s}`, name: `${site} workers`, site: s, kind: null });
    if (lanes.kinds.length > 1) has.forEach((any, kind) => any && found.push({ key: `${s}/${kind}`, name: `${site} ${lanes.kinds[kind]}`, site: s, kind }));
  });
  if (cluster.cloud) found.push({ key: 'cloud', name: 'workers in the cloud', site: null, kind: null });
  return found;
}

/** Mean number of workers that run per bin, and that are there: [[busy, present] Float64Array] of each row of kindsOf, as known at p. */
export function laneUse({ bars }, info, rows, p, from, width, bins) {
  const { cluster, lanes } = info;
  const to = from + width * bins;
  const place = new Map(rows.map(({ key }, i) => [key, i]));
  const sums = rows.map(() => [new Float64Array(bins + 2), new Float64Array(bins + 2)]);
  const add = (keys, which, begin, end, amount) => keys.forEach((key) => place.has(key) && addInterval(sums[place.get(key)][which], bins, from, width, begin, end, amount));
  cluster.servers.forEach((server, i) => {
    const site = SITES.indexOf(server.site);
    lanes.workers[i].forEach((amount, kind) => {
      if (!amount) return;
      const keys = [`${site}`, `${site}/${kind}`];
      add(keys, 1, from, to, amount);
      for (const [begin, end] of server.away ?? []) add(keys, 1, Math.max(begin, from), Math.min(end, to), -amount);
    });
  });
  const siteOf = cluster.servers.map((server) => SITES.indexOf(server.site));
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.role[bar] !== WORKER || bars.start_ms[bar] >= to || bars.end_ms[bar] <= from || !trueAt(bars, bar, p)) continue;
    const server = bars.server[bar];
    const keys = server === CLOUD ? ['cloud'] : [`${siteOf[server]}`, `${siteOf[server]}/${lanes.of_job[bars.job[bar]]}`];
    add(keys, 0, bars.start_ms[bar], bars.end_ms[bar], bars.count[bar]);
  }
  for (const pair of sums) for (const sum of pair) settle(sum, bins);
  return sums;
}

/** Shares of what is there; of the cloud, which has no limit, in workers of the servers: often so many that it is hidden at first. */
export function lanesChart(canvas, { store, info, view, playhead, legend }) {
  const rows = kindsOf(info);
  const total = Math.max(1, info.lanes.workers.flat().reduce((sum, amount) => sum + amount, 0));
  const shares = ([busy, present], { key }, bins) => Float64Array.from({ length: bins }, (_, bin) => (key === 'cloud' ? busy[bin] / total : present[bin] > 0 ? busy[bin] / present[bin] : NaN));
  const compute = (range, p, bins) => {
    const width = (range.to - range.from) / bins;
    const sums = laneUse(store, info, rows, p, range.from, width, bins);
    const x = Float64Array.from({ length: bins }, (_, i) => range.from + i * width);
    const c = colors();
    return rows.map((row, i) => ({
      key: row.key, name: row.name, unit: row.key === 'cloud' ? "% of the servers' workers" : '% of those there', x, y: shares(sums[i], row, bins),
      color: row.key === 'cloud' ? c.warn : row.kind === null ? c.accent : c.jobs[row.kind % c.jobs.length], dash: row.kind === null ? [] : [4, 2],
    }));
  };
  let known = { key: '', values: {} };
  const exact = (t, p) => {
    const key = `${t} ${p} ${store.bars.length}`;
    if (known.key !== key) known = { key, values: Object.fromEntries(laneUse(store, info, rows, p, t, 1, 1).map((sums, i) => [rows[i].key, shares(sums, rows[i], 1)[0]])) };
    return known.values;
  };
  const y = { min: 0, suggestedMax: 1, border: { display: false }, ticks: { callback: (v) => `${Math.round(v * 100)} %` } };
  return new Curves(canvas, { view, playhead, legend, compute, exact, y, xTicks: true, hidden: rows.filter(({ key, kind }) => kind !== null || key === 'cloud').map(({ key }) => key), format: (v) => percent(v) });
}
