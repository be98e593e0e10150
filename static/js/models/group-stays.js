// Stays of jobs on a machine that groups of jobs share, as bars: for each time, with the end that was planned then. A
// stay on a machine goes on when the job changes its group and keeps the machine.

import { NEVER, OPEN, WORKER } from '../core/columns/bars.js';
import { memberships } from '../core/memberships.js';

/** @typedef {{from: number, until: number, end: number}} Part of a stay, between two changes of the job's group */
/** @typedef {{job: number, parts: Part[]}} Stay */

/**
 * Rows [job, start, end, born, died, role, count, worker slot] of the stays on a server. A group changes often, so a
 * stay has many parts: a row is valid during a part and ends when the plan of that time ends; after the last part, a
 * row ends when the job left.
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
 * The stays on a server, with their parts.
 *
 * @param {import('../core/store.js').Store} store
 * @param {number} server
 * @returns {Stay[]}
 */
export function staysOf(store, server) {
  /** @type {Map<number, Stay>} */
  const newest = new Map(); // job -> its latest stay
  /** @type {Stay[]} */
  const stays = [];
  const planned = plannedEnds(store);
  for (const { job, from, until, segment } of memberships(store.groups)) {
    const [, , { group, servers }] = segment;
    if (!servers.includes(server)) continue;
    const before = newest.get(job);
    const last = before?.parts[before.parts.length - 1];
    const goesOn = last?.until === from;
    // a group may change without new plans of its jobs
    const standing = goesOn ? last.end : until === NEVER ? OPEN : until;
    const end = planned.get(`${job} ${group} ${from}`) ?? standing;
    if (goesOn) before.parts.push({ from, until, end });
    else {
      const stay = { job, parts: [{ from, until, end }] };
      newest.set(job, stay);
      stays.push(stay);
    }
  }
  return stays;
}

/** @type {WeakMap<object, {generation: number, seen: number, ends: Map<string, number>}>} */
const KNOWN = new WeakMap(); // of each store: bars are only added, so that each is read once

/** 'job group time' -> the end that the job's plan of that time had. */
function plannedEnds(store) {
  const { bars, generation } = store;
  let known = KNOWN.get(store);
  if (!known || known.generation !== generation) known = { generation, seen: 0, ends: new Map() };
  KNOWN.set(store, known);
  for (; known.seen < bars.length; known.seen++) {
    const bar = known.seen;
    if (bars.group[bar] < 0) continue;
    const key = `${bars.job[bar]} ${bars.group[bar]} ${bars.born_ms[bar]}`;
    known.ends.set(key, Math.max(bars.end_ms[bar], known.ends.get(key) ?? 0));
  }
  return known.ends;
}
