// Amounts held by the bars of a row of the schedule, by measure: resources, slots of typed workers, or workers.

import { capacityAt, capacitySteps, workerSteps, largest, sumOfSteps } from '../util/capacity.js';
import { PS, heldBy } from './columns/bars.js';

const NONE = /** @type {{name: string, share: number} | null} */ (null);
const NAMES = ['workers in use', 'parameter servers in use'];

/**
 * @typedef {object} Measure
 * @property {string} name
 * @property {(bar: number) => number} amountOf
 * @property {[untilMs: number, amount: number][]} capacity
 */
/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./run-info.js').RunInfo} RunInfo */
/** @typedef {import('../util/capacity.js').WithCapacity & import('../util/capacity.js').WithWorkers} Server */

/**
 * Each resource that servers can run out of and this one has.
 *
 * @param {Server} server
 * @param {Store} store
 * @param {RunInfo} info
 * @returns {Measure[]}
 */
export function resourceMeasures(server, { bars }, info) {
  return info.names.flatMap((name, r) => (info.used[r] ? resourceMeasure(name, r, server, bars, info) : []));
}

/**
 * Slots for typed workers and for parameter servers of a server that has some.
 *
 * @param {Server} server
 * @param {Store} store
 * @returns {Measure[]}
 */
export function slotMeasures(server, { bars }) {
  return NAMES.flatMap((name, role) => workerMeasure(name, role, workerSteps(server, role), bars));
}

/**
 * @param {string} name
 * @param {number} role
 * @param {Measure['capacity']} capacity
 * @param {Store['bars']} bars
 * @returns {Measure[]}
 */
function workerMeasure(name, role, capacity, bars) {
  /** @param {number} bar */
  const amountOf = (bar) => Number(bars.worker_slot[bar] >= 0 && (bars.role[bar] === PS) === (role === 1));
  return largest(capacity) > 0 ? [{ name, capacity, amountOf }] : [];
}

/**
 * @param {string} name
 * @param {number} r
 * @param {Server} server
 * @param {Store['bars']} bars
 * @param {RunInfo} info
 * @returns {Measure[]}
 */
function resourceMeasure(name, r, server, bars, info) {
  const capacity = capacitySteps(server, r);
  /** @param {number} bar */
  const amountOf = (bar) => heldBy(bars, bar, r, info);
  return largest(capacity) > 0 ? [{ name: `${name} allocation`, capacity, amountOf }] : [];
}

/**
 * Measures of several servers together: one of each name, with the sum of their capacities.
 *
 * @param {Measure[]} measures
 * @returns {Measure[]}
 */
export function together(measures) {
  /** @type {Map<string, Measure[]>} */
  const byName = new Map();
  for (const measure of measures) {
    const same = byName.get(measure.name);
    if (same) same.push(measure);
    else byName.set(measure.name, [measure]);
  }
  return [...byName.values()].map((same) => ({ ...same[0], capacity: sumOfSteps(same.map((one) => one.capacity)) }));
}

/**
 * Workers, which have no capacity but a maximum at a time.
 *
 * @param {Store} store
 * @param {number} most
 * @returns {Measure}
 */
export function workersOf({ bars }, most) {
  /** @param {number} bar */
  const amountOf = (bar) => (bars.role[bar] === PS ? 0 : bars.count[bar]);
  return { name: 'workers', capacity: [[Infinity, most]], amountOf };
}

/**
 * {name, share} of the measure of which these bars hold most at t; null without measures.
 *
 * @param {Measure[]} measures
 * @param {number[]} held
 * @param {number} t
 * @returns {{name: string, share: number} | null}
 */
export function fullest(measures, held, t) {
  const shares = measures.map((measure) => ({ name: measure.name, share: shareOf(measure, held, t) }));
  return shares.reduce((most, one) => (most && most.share >= one.share ? most : one), NONE);
}

/**
 * @param {Measure} measure
 * @param {number[]} held
 * @param {number} t
 */
function shareOf({ capacity, amountOf }, held, t) {
  const amount = capacityAt(capacity, t);
  return amount > 0 ? held.reduce((sum, bar) => sum + amountOf(bar), 0) / amount : 0;
}
