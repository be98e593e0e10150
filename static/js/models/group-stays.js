// Stays of jobs on a machine that groups of jobs share, as bars: each with the end that was planned at its time.

import { NEVER, OPEN, WORKER } from '../core/bars.js';

/** @typedef {{from: number, until: number, end: number}} Part of a stay, between two changes of the job's group */
/** @typedef {{job: number, parts: Part[]}} Stay */

/**
 * Rows [job, start, end, born, died, role, count, lane] of the stays on a server. A group changes often, so a stay has
 * many parts: a row is valid during a part and ends at the finish planned then; once the job has left, at its leaving.
 *
 * @param {import('../core/store.js').Store} store
 * @param {number} server
 * @returns {number[][]}
 */
export function staysOn(store, server) {
  return staysOf(store, server).flatMap(({ job, parts }) => {
    const start = parts[0].from;
    const row = (end, born, died) => [job, start, end, born, died, WORKER, 1, NEVER];
    const rows = parts.map(({ from, until, end }) => row(end, from, until));
    const left = parts[parts.length - 1].until;
    return left === NEVER ? rows : [...rows, row(left, left, NEVER)];
  });
}

/**
 * @param {import('../core/store.js').Store} store
 * @param {number} server
 * @returns {Stay[]}
 */
function staysOf(store, server) {
  /** @type {Map<number, Stay>} */
  const newest = new Map(); // job -> its latest stay
  /** @type {Stay[]} */
  const stays = [];
  const planned = plannedEnds(store);
  for (const [from, until, { group, servers, jobs }] of store.groups) {
    if (!servers.includes(server)) continue;
    for (const job of jobs) {
      const end = planned.get(`${job} ${group} ${from}`) ?? (until === NEVER ? OPEN : until);
      const before = newest.get(job);
      if (before && before.parts[before.parts.length - 1].until === from) before.parts.push({ from, until, end });
      else {
        const stay = { job, parts: [{ from, until, end }] };
        newest.set(job, stay);
        stays.push(stay);
      }
    }
  }
  return stays;
}

/** 'job group time' -> the end that the job's plan of that time had. */
function plannedEnds({ bars }) {
  const ends = new Map();
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.group[bar] < 0) continue;
    const key = `${bars.job[bar]} ${bars.group[bar]} ${bars.born_ms[bar]}`;
    ends.set(key, Math.max(bars.end_ms[bar], ends.get(key) ?? 0));
  }
  return ends;
}
