// Holders of a resource on some servers at one time, as known at a moment.

import { PS, heldBy, validAt } from '../columns/bars.js';
import { capacityAt, capacitySteps, serverAt } from '../../util/capacity.js';

/**
 * @typedef {object} Holder a job with what it holds
 * @property {number} job
 * @property {number} amount in thousandths of a unit
 * @property {number} workers
 * @property {number} ps parameter servers
 * @property {number[]} servers in order of the cluster
 */

/**
 * The capacity of resource r of the servers that are available at time t, what is held of it, and the jobs that hold
 * it, those with most first; amounts in thousandths.
 *
 * @param {import('../store.js').Store} store
 * @param {any} info
 * @param {{servers: number[], r: number, t: number, p: number}} where
 * @returns {{capacity: number, held: number, jobs: Holder[]}}
 */
export function holdersOf({ bars }, info, { servers, r, t, p }) {
  const known = (/** @type {number} */ server) => serverAt(info.cluster.servers[server], p);
  const available = servers.filter((server) => {
    /** @type {import('../../util/capacity.js').Outages} */
    const away = known(server).away ?? [];
    return !away.some(([from, until]) => from <= t && t < until);
  });
  const wanted = new Set(available);
  /** @type {Map<number, Holder>} */
  const jobs = new Map();
  let held = 0;
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.start_ms[bar] > t || bars.end_ms[bar] <= t || !wanted.has(bars.server[bar])) continue;
    if (!validAt(bars, bar, p)) continue;
    const isPs = bars.role[bar] === PS;
    const amount = heldBy(bars, bar, r, info);
    if (!amount) continue;
    const job = bars.job[bar];
    const holder = jobs.get(job) ?? { job, amount: 0, workers: 0, ps: 0, servers: [] };
    holder.amount += amount;
    holder[isPs ? 'ps' : 'workers'] += bars.count[bar];
    if (!holder.servers.includes(bars.server[bar])) holder.servers.push(bars.server[bar]);
    jobs.set(job, holder);
    held += amount;
  }
  for (const { servers: list } of jobs.values()) list.sort((a, b) => a - b);
  const capacity = available.reduce((sum, server) => sum + capacityAt(capacitySteps(known(server), r), t), 0);
  return { capacity, held, jobs: [...jobs.values()].sort((a, b) => b.amount - a.amount || a.job - b.job) };
}
