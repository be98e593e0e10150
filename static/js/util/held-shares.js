// Amounts held by the bars of a row of the schedule, by measure: resources, slots of typed workers, or workers.

import { PS } from '../core/store.js';

const NONE = /** @type {{name: string, share: number} | null} */ (null);
const LANES = ['workers in use', 'parameter servers in use'];

/**
 * @typedef {object} Measure
 * @property {string} name
 * @property {(bar: number) => number} amountOf
 * @property {[untilMs: number, amount: number][]} capacity
 */
/** @typedef {import('../core/store.js').Store} Store */
/** @typedef {import('../core/run-info.js').RunInfo} RunInfo */
/** @typedef {{capacity: number[], lanes?: number[] | null, was?: [untilMs: number, amounts: number[]][]}} Server */

/**
 * Each resource that servers can run out of and this one has. A bar on a typed worker takes no resources.
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
export function slotMeasures({ lanes }, { bars }) {
  return lanes ? LANES.flatMap((name, role) => laneMeasure(name, role, lanes, bars)) : [];
}

/**
 * @param {string} name
 * @param {number} role
 * @param {number[]} lanes [role]
 * @param {Store['bars']} bars
 * @returns {Measure[]}
 */
function laneMeasure(name, role, lanes, bars) {
  /** @param {number} bar */
  const amountOf = (bar) => Number(bars.lane[bar] >= 0 && (bars.role[bar] === PS) === (role === 1));
  return lanes[role] > 0 ? [{ name, capacity: [[Infinity, lanes[role]]], amountOf }] : [];
}

/**
 * @param {string} name
 * @param {number} r
 * @param {Server} server
 * @param {Store['bars']} bars
 * @param {RunInfo} info
 * @returns {Measure[]}
 */
function resourceMeasure(name, r, { capacity, was = [] }, bars, { worker, ps }) {
  /** @type {Measure['capacity']} */
  const before = was.map(([until, held]) => [until, held[r]]);
  /** @type {Measure['capacity']} */
  const amounts = [...before, [Infinity, capacity[r]]];
  /** @param {number} bar */
  const amountOf = (bar) =>
    bars.lane[bar] >= 0 ? 0 : (bars.role[bar] === PS ? ps : worker)[bars.job[bar] * 5 + r] * bars.count[bar];
  return amounts.some(([, amount]) => amount > 0) ? [{ name: `${name} allocated`, capacity: amounts, amountOf }] : [];
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
  const amount = capacity.find(([until]) => t < until)?.[1] ?? 0;
  return amount > 0 ? held.reduce((sum, bar) => sum + amountOf(bar), 0) / amount : 0;
}
