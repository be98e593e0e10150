// Capacity of a server over time, which edits and real clusters change: steps [[until ms, amount], ...], the last one
// until Infinity; and the outages of a server as known at a time.

/** @typedef {[untilMs: number, amount: number][]} Steps */
/** @typedef {{capacity: number[], was?: [untilMs: number, amounts: number[]][]}} WithCapacity */
/** @typedef {[from: number, until: number][]} Outages */
/**
 * @typedef {WithCapacity & WithWorkers & {away?: Outages, away_was?: [untilMs: number, away: Outages][]}} WithOutages
 */
/** @typedef {{lanes?: number[] | null, lanes_was?: [untilMs: number, workers: number[]][]}} WithWorkers */

/** Sites of servers, in the order in which arrays by site have them. */
export const SITES = ['edge', 'cloud'];
/** Number of resources, and the place of one of them, in arrays by resource. */
export const [RESOURCE_COUNT, CPU] = [5, 1];

/**
 * [site, resource] of a cell of an array [site][resource].
 *
 * @param {number} cell
 */
export const placesOf = (cell) => [Math.floor(cell / RESOURCE_COUNT), cell % RESOURCE_COUNT];

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
 * @param {WithWorkers} server
 * @param {number} role
 * @returns {Steps}
 */
export function workerSteps({ lanes: workers, lanes_was: was = [] }, role) {
  return stepsOf(was, workers ?? [0, 0], role);
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
 * A server as known at time p: without the changes that later edits make.
 *
 * @template {WithOutages} T
 * @param {T} server
 * @param {number} p
 * @returns {T}
 */
export function serverAt(server, p) {
  const { was, lanes_was: workersWas, away_was: awayWas } = server;
  if (!was && !workersWas && !awayWas) return server;
  const [capacity, wasThen] = knownAt(was, server.capacity, p);
  const [workers, workersThen] = knownAt(workersWas, server.lanes, p);
  const [away] = knownAt(awayWas, server.away, p);
  return { ...server, capacity, was: wasThen, lanes: workers, lanes_was: workersThen, away };
}

/**
 * Times at which servers have changed, each once.
 *
 * @param {WithOutages[]} servers
 */
export function changeTimes(servers) {
  const ends = servers.flatMap(({ was = [], lanes_was: workers = [], away_was: away = [] }) =>
    [...was, ...workers, ...away].map(([until]) => until),
  );
  return [...new Set(ends)];
}

/**
 * Outages of a server as known at time p; without those that begin later, unless the log of the run states them before.
 *
 * @param {WithOutages} server
 * @param {number} p
 * @param {boolean} looksAhead whether it does (util/run-modes.js)
 * @returns {Outages}
 */
export function outagesAt(server, p, looksAhead) {
  /** @type {Outages} */
  const away = serverAt(server, p).away ?? [];
  return looksAhead ? away : away.filter(([begin]) => begin <= p);
}

/**
 * A value as known at time p, and its earlier values.
 *
 * @template T
 * @param {[untilMs: number, value: T][] | undefined} was
 * @param {T} now
 * @param {number} p
 * @returns {[T, [untilMs: number, value: T][] | undefined]}
 */
function knownAt(was, now, p) {
  const i = was ? was.findIndex(([until]) => p < until) : -1;
  if (!was || i < 0) return [now, was];
  const [, value] = was[i];
  return [value, was.slice(0, i)];
}

/**
 * Steps as known at time p: the amount of that time goes on.
 *
 * @param {Steps} steps
 * @param {number} p
 * @returns {Steps}
 */
export function stepsAt(steps, p) {
  const i = steps.findIndex(([until]) => p < until);
  if (i < 0) return steps;
  const [, amount] = steps[i];
  return [...steps.slice(0, i), [Infinity, amount]];
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
    let [at, before] = steps[0];
    now += before;
    for (const [until, amount] of steps.slice(1)) {
      changes.set(at, (changes.get(at) ?? 0) + amount - before);
      [at, before] = [until, amount];
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
