// Totals of a range of time, and the jobs that hold servers at one time; both as known at a moment.

import { NEVER, OPEN, TRANSFER, WORKER, endAt, heldBy, validAt } from '../columns/bars.js';
import { spansOf } from '../job-spans.js';
import { pricesOf } from '../slot-prices.js';
import { RESOURCE_COUNT, SITES } from '../../util/capacity.js';

/** @typedef {import('../store.js').Store} Store */
/** @typedef {import('../run-info.js').RunInfo} RunInfo */
/** @typedef {import('../slot-prices.js').PriceSource} PriceSource */

const HOUR_MS = 3_600_000;

/**
 * The jobs whose workers run at time t: [job, workers], most workers first. A job in a group has bars, too: a worker on
 * each machine of the group, from when it trains there.
 *
 * @param {Store} store
 * @param {number} t
 * @param {number} p
 */
export function heldAt(store, t, p) {
  const { bars } = store;
  /** @type {Map<number, number>} */
  const workers = new Map();
  for (let bar = 0; bar < bars.length; bar++) {
    const over = bars.end_ms[bar] < OPEN ? bars.end_ms[bar] <= t : t > p; // the end of an open bar is not known
    if (over || bars.start_ms[bar] > t || bars.role[bar] !== WORKER || !validAt(bars, bar, p)) continue;
    workers.set(bars.job[bar], (workers.get(bars.job[bar]) ?? 0) + bars.count[bar]);
  }
  return [...workers].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

/**
 * Totals of [from, to): `gpu`, `workers` and `machines` in hours; numbers of jobs that arrived, started, completed and
 * were rejected in it, and `ran`: those that ran at any time of it.
 *
 * @param {Store} store
 * @param {RunInfo} info
 * @param {number} p
 * @param {number} from
 * @param {number} to
 */
export function rangeTotals(store, info, p, from, to) {
  const { jobs } = store;
  const sum = { arrived: 0, started: 0, completed: 0, rejected: 0, ran: 0, ...hoursHeld(store, info, p, from, to) };
  const spans = spansOf(store, p);
  /** @param {number} ms */
  const inside = (ms) => ms !== NEVER && ms <= p && ms >= from && ms < to;
  for (let job = 0; job < jobs.length; job++) {
    if (inside(jobs.arrived_ms[job])) sum.arrived++;
    if (inside(jobs.completed_ms[job])) sum.completed++;
    if (inside(jobs.rejected_ms[job])) sum.rejected++;
    const list = spans.of(job);
    if (!list.length) continue;
    if (inside(list[0].begin)) sum.started++;
    if (list.some(({ begin, until }) => begin < to && until > from)) sum.ran++;
  }
  return sum;
}

/**
 * @param {Store} store
 * @param {RunInfo} info
 * @param {number} p
 * @param {number} from
 * @param {number} to
 */
function hoursHeld({ bars, groups }, info, p, from, to) {
  let [gpu, workers, machines] = [0, 0, 0];
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.start_ms[bar] >= to || bars.end_ms[bar] <= from || bars.role[bar] === TRANSFER) continue;
    if (!validAt(bars, bar, p)) continue;
    const ms = Math.min(to, endAt(bars, bar, p)) - Math.max(from, bars.start_ms[bar]);
    if (!(ms > 0)) continue;
    if (bars.role[bar] === WORKER) workers += ms * bars.count[bar];
    if (info.used[0]) gpu += (ms * heldBy(bars, bar, 0, info)) / 1000;
  }
  for (const [begin, until, { servers }] of groups) {
    const end = until === NEVER ? p : until;
    const ms = Math.min(to, end) - Math.max(from, begin);
    if (begin <= p && ms > 0) machines += ms * servers.length;
  }
  return { gpu: gpu / HOUR_MS, workers: workers / HOUR_MS, machines: machines / HOUR_MS };
}

/**
 * Mean price of a resource at each site in [from, to), weighted by time: [{site, price}]; empty without prices.
 *
 * @param {PriceSource} source
 * @param {number} slotMs
 * @param {number} resource
 * @param {number} from
 * @param {number} to
 */
export function meanPrices(source, slotMs, resource, from, to) {
  return SITES.flatMap((site, place) => {
    let [sum, time] = [0, 0];
    for (let slot = Math.floor(from / slotMs); slot * slotMs < to && slot * slotMs < OPEN; slot++) {
      const price = pricesOf(source, slot)?.[1][place * RESOURCE_COUNT + resource];
      if (!Number.isFinite(price)) continue;
      const ms = Math.min(to, (slot + 1) * slotMs) - Math.max(from, slot * slotMs);
      sum += price * ms;
      time += ms;
    }
    return time ? [{ site, price: sum / time }] : [];
  });
}
