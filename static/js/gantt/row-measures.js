// Measures of the rows of a schedule: resources, or typed workers and parameter servers, of a server or a
// site; without a capacity, workers.

import { CLOUD, NEVER } from '../core/columns/bars.js';
import { together, workersOf } from '../core/held-shares.js';
import { withoutOutages } from '../util/capacity.js';

/** Servers of a row: one server, all servers of a site, or none (a job, a user, a queue, the unlimited cloud). */
export function serversOf({ kind, index }, servers) {
  if (kind === 'server') return index === CLOUD ? [] : [servers[index]];
  return kind === 'many' ? servers.filter(({ site }) => site === index) : [];
}

/** Measures (held-shares.js) of a row of servers; in a site, a server offers nothing while it is unavailable. */
export function measuresOf(row, servers, { models, store, info }) {
  const own = (server) => models.flatMap((model) => model.measures(server, store, info));
  if (row.kind === 'server') return own(servers[0]);
  const available = (server) =>
    own(server).map((one) => ({ ...one, capacity: withoutOutages(one.capacity, server.away ?? []) }));
  return together(servers.flatMap(available));
}

/** Workers of a row as a share of the most that it has at a time. */
export function workersIn(row, store) {
  return workersOf(store, Math.max(1, peak(row, store)));
}

function peak(row, store) {
  const { bars } = store;
  const { amountOf } = workersOf(store, 1);
  const steps = [];
  for (let i = 0; i < row.length; i++) {
    const bar = row.sorted[i];
    if (bars.died_ms[bar] !== NEVER) continue;
    const workers = amountOf(bar);
    steps.push([bars.start_ms[bar], workers], [bars.end_ms[bar], -workers]);
  }
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let now = 0;
  let most = 0;
  for (const [, change] of steps) most = Math.max(most, (now += change));
  return most;
}
