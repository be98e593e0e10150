// Running typed workers over time: of each site, of each type, and of the unlimited cloud.

import { colors } from '../../util/colors.js';
import { SITES, workerSteps, serverAt } from '../../util/capacity.js';
import { addInterval, settle } from '../../util/interval-sums.js';
import { CLOUD, WORKER, validAt } from '../../core/columns/bars.js';

/** Numbers of the types in the order of their names; a trace has them in the order of their first use. */
const byName = (types) =>
  types.map((_, type) => type).sort((a, b) => types[a].localeCompare(types[b], 'en', { numeric: true }));

/**
 * [{key, name, site, type}]: all workers of each site, each type of each site, and last the unlimited cloud where there
 * is one.
 */
export function typedWorkerRows({ cluster, typed_workers: typed }) {
  const found = [];
  SITES.forEach((site, s) => {
    const has = typed.types.map((_, type) =>
      cluster.servers.some((server, i) => server.site === site && typed.workers[i][type]),
    );
    if (has.some(Boolean)) found.push({ key: `${s}`, name: `${site} workers`, site: s, type: null });
    if (typed.types.length > 1)
      byName(typed.types).forEach(
        (type) => has[type] && found.push({ key: `${s}/${type}`, name: `${site} ${typed.types[type]}`, site: s, type }),
      );
  });
  if (cluster.cloud) found.push({ key: 'cloud', name: 'workers in the unlimited cloud', site: null, type: null });
  return found;
}

/**
 * Mean number of running and of available workers per bin: [[busy, present] Float64Array] of each row of
 * typedWorkerRows, as known at p.
 */
export function typedWorkerUse({ bars }, info, rows, p, from, width, bins) {
  const { cluster, typed_workers: typed } = info;
  const to = from + width * bins;
  const place = new Map(rows.map(({ key }, i) => [key, i]));
  const sums = rows.map(() => [new Float64Array(bins + 2), new Float64Array(bins + 2)]);
  const add = (keys, which, begin, end, amount) =>
    keys.forEach(
      (key) => place.has(key) && addInterval(sums[place.get(key)][which], bins, from, width, begin, end, amount),
    );
  cluster.servers.forEach((newest, i) => {
    const server = serverAt(newest, p);
    const site = SITES.indexOf(server.site);
    typed.workers[i].forEach((amount, type) => {
      const keys = [`${site}`, `${site}/${type}`];
      // without declared types, of which there is one then, the number follows from the capacity
      const steps = newest.lanes_was ? workerSteps(server, WORKER) : [[Infinity, amount]];
      let begins = -Infinity;
      for (const [until, workers] of steps) {
        const [first, past] = [Math.max(begins, from), Math.min(until, to)];
        begins = until;
        if (past <= first || !workers) continue;
        add(keys, 1, first, past, workers);
        for (const [begin, end] of server.away ?? [])
          add(keys, 1, Math.max(begin, first), Math.min(end, past), -workers);
      }
    });
  });
  const siteOf = cluster.servers.map((server) => SITES.indexOf(server.site));
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.role[bar] !== WORKER || bars.start_ms[bar] >= to || bars.end_ms[bar] <= from || !validAt(bars, bar, p))
      continue;
    const server = bars.server[bar];
    const keys =
      server === CLOUD ? ['cloud'] : [`${siteOf[server]}`, `${siteOf[server]}/${typed.of_job[bars.job[bar]]}`];
    add(keys, 0, bars.start_ms[bar], bars.end_ms[bar], bars.count[bar]);
  }
  for (const pair of sums) for (const sum of pair) settle(sum, bins);
  return sums;
}

/**
 * Shares of what is there; of the cloud, which has no limit, in workers of the servers: often so many that it is hidden
 * at first.
 */
export function typedWorkerCurves(store, info) {
  const rows = typedWorkerRows(info);
  const total = Math.max(
    1,
    info.typed_workers.workers.flat().reduce((sum, amount) => sum + amount, 0),
  );
  const shares = ([busy, present], { key }, bins) =>
    Float64Array.from({ length: bins }, (_, bin) =>
      key === 'cloud' ? busy[bin] / total : present[bin] > 0 ? busy[bin] / present[bin] : NaN,
    );
  const curves = (range, p, bins, width) => {
    const sums = typedWorkerUse(store, info, rows, p, range.from, width, bins);
    const x = Float64Array.from({ length: bins }, (_, i) => range.from + i * width);
    const c = colors();
    return rows.map((row, i) => ({
      key: row.key,
      name: row.name,
      unit: row.key === 'cloud' ? '% of the workers on servers' : '% of the available workers',
      x,
      y: shares(sums[i], row, bins),
      color: row.key === 'cloud' ? c.warn : row.type === null ? c.accent : c.jobs[row.type % c.jobs.length],
      dash: row.type === null ? (row.site ? [8, 4] : []) : row.site ? [2, 2] : [4, 2],
    }));
  };
  let known = { key: '', values: {} };
  const exact = (t, p) => {
    const key = `${t} ${p} ${store.bars.length}`;
    if (known.key !== key)
      known = {
        key,
        values: Object.fromEntries(
          typedWorkerUse(store, info, rows, p, t, 1, 1).map((sums, i) => [rows[i].key, shares(sums, rows[i], 1)[0]]),
        ),
      };
    return known.values;
  };
  const y = {
    min: 0,
    suggestedMax: 1,
    border: { display: false },
    ticks: { stepSize: 0.25, callback: (v) => `${Math.round(v * 100)} %` },
  };
  return {
    curves,
    exact,
    y,
    hidden: rows.filter(({ key, type }) => type !== null || key === 'cloud').map(({ key }) => key),
  };
}
