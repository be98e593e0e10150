// Capacity of a server over time, which edits change: steps [[until ms, amount], ...], the last one until Infinity.

/** @typedef {[untilMs: number, amount: number][]} Steps */
/** @typedef {{capacity: number[], was?: [untilMs: number, amounts: number[]][]}} WithCapacity */
/** @typedef {{lanes?: number[] | null, lanes_was?: [untilMs: number, lanes: number[]][]}} WithLanes */

/**
 * Amounts of a resource, in thousandths.
 *
 * @param {WithCapacity} server
 * @param {number} r
 * @returns {Steps}
 */
export function capacitySteps({ capacity, was = [] }, r) {
  return stepsOf(was, capacity, r);
}

/**
 * Slots for typed workers (role 0) or for parameter servers (role 1).
 *
 * @param {WithLanes} server
 * @param {number} role
 * @returns {Steps}
 */
export function laneSteps({ lanes, lanes_was: was = [] }, role) {
  return stepsOf(was, lanes ?? [0, 0], role);
}

/**
 * @param {[untilMs: number, amounts: number[]][]} was
 * @param {number[]} now
 * @param {number} place
 * @returns {Steps}
 */
function stepsOf(was, now, place) {
  return [
    ...was.map(([until, amounts]) => /** @type {[number, number]} */ ([until, amounts[place]])),
    [Infinity, now[place]],
  ];
}

/**
 * @param {Steps} steps
 * @param {number} t
 */
export function capacityAt(steps, t) {
  return steps.find(([until]) => t < until)?.[1] ?? 0;
}

/** @param {Steps} steps */
export function largest(steps) {
  return Math.max(...steps.map(([, amount]) => amount));
}

/**
 * The same in other units.
 *
 * @param {Steps} steps
 * @param {number} unit
 * @returns {Steps}
 */
export function perUnit(steps, unit) {
  return steps.map(([until, amount]) => [until, amount / unit]);
}
