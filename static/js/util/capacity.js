// Capacity of a server over time, which edits change: steps [[until ms, amount], ...], the last one until Infinity;
// and the outages of a server as known at a time.

/** @typedef {[untilMs: number, amount: number][]} Steps */
/** @typedef {{capacity: number[], was?: [untilMs: number, amounts: number[]][]}} WithCapacity */
/** @typedef {[from: number, until: number][]} Outages */
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
 * Outages of a server as known at time p, before later edits.
 *
 * @param {{away?: Outages, away_was?: [untilMs: number, away: Outages][]}} server
 * @param {number} p
 * @returns {Outages}
 */
export function outagesAt({ away = [], away_was: was = [] }, p) {
  return was.find(([until]) => p < until)?.[1] ?? away;
}

/**
 * A capacity that is 0 in the outages of its server.
 *
 * @param {Steps} steps
 * @param {Outages} away
 * @returns {Steps}
 */
export function withoutOutages(steps, away) {
  if (!away.length) return steps;
  const times = [...new Set([...steps.map(([until]) => until), ...away.flat()])].sort((a, b) => a - b);
  return times.map((until, i) => {
    const from = i ? times[i - 1] : -1;
    return [until, away.some(([left, back]) => left <= from && from < back) ? 0 : capacityAt(steps, from)];
  });
}

/**
 * The sum of several capacities over time.
 *
 * @param {Steps[]} all
 * @returns {Steps}
 */
export function sumOfSteps(all) {
  if (all.length === 1) return all[0];
  /** @type {Map<number, number>} the change at a time */
  const changes = new Map();
  let now = 0;
  for (const steps of all) {
    now += steps[0][1];
    for (let i = 1; i < steps.length; i++) {
      const at = steps[i - 1][0];
      changes.set(at, (changes.get(at) ?? 0) + steps[i][1] - steps[i - 1][1]);
    }
  }
  /** @type {Steps} */
  const sum = [];
  for (const [at, change] of [...changes].sort((a, b) => a[0] - b[0])) {
    sum.push([at, now]);
    now += change;
  }
  return [...sum, [Infinity, now]];
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
