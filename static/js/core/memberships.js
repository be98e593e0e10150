// Memberships of jobs in co-location groups, from the groups of the store: the one derivation in JavaScript, by the
// rules of twin/eventlog/memberships.py; tests/fixtures/memberships.json pins both.

import { NEVER } from './columns/bars.js';

/** @typedef {import('./store.js').Store['groups']} Groups */
/** @typedef {Groups[number]} Segment [from, until (-1 = open), data of `grouped`] */
/** @typedef {'running' | 'profiling' | 'moving'} Doing */
/**
 * A job in a group, from one `grouped` event of the group to the next; until: -1 = open; place: of the job in it.
 *
 * @typedef {{job: number, from: number, until: number, segment: Segment, place: number}} Membership
 */
/**
 * The time of a job in one group on the same servers, whoever joins or leaves the group meanwhile; until: -1 = open.
 *
 * @typedef {{job: number, from: number, until: number, group: number, servers: number[]}} Stay
 */

/**
 * Memberships in the order of the log, without those that last no time; as known at p, without later ends.
 *
 * @param {Iterable<Segment>} groups
 * @param {number} p
 * @returns {Generator<Membership>}
 */
export function* memberships(groups, p = Infinity) {
  for (const segment of groups) {
    const [from, until, { jobs }] = segment;
    if (from === until || from > p) continue;
    for (let place = 0; place < jobs.length; place++)
      yield { job: jobs[place], from, until: until > p ? NEVER : until, segment, place };
  }
}

/**
 * [state, from, until] of a membership: the job moves until it is ready, and is then profiled or runs.
 *
 * @param {Membership} membership
 * @returns {[Doing, number, number][]}
 */
export function membershipStates({ from, until, segment: [, , data], place }) {
  const doing = data.profiling[place] ? 'profiling' : 'running';
  const ready = Math.max(from, until === NEVER ? data.ready_ms[place] : Math.min(data.ready_ms[place], until));
  /** @type {[Doing, number, number][]} */
  const both = [
    ['moving', from, ready],
    [doing, ready, until],
  ];
  return both.filter(([, begin, end]) => begin !== end);
}

/**
 * Stays, in the order of their beginnings; of: memberships in the order of the log.
 *
 * @param {Iterable<Membership>} of
 * @returns {Stay[]}
 */
export function stays(of) {
  /** @type {Stay[]} */
  const found = [];
  /** @type {Map<number, Stay>} */
  const newest = new Map(); // job -> its latest stay
  for (const membership of of) {
    const { job, from, until } = membership;
    const last = newest.get(job);
    if (last?.until === from && goesOn(last, membership)) last.until = until;
    else {
      const [, , { group, servers }] = membership.segment;
      const stay = { job, from, until, group, servers };
      newest.set(job, stay);
      found.push(stay);
    }
  }
  return found;
}

/**
 * True for a membership in the same group, on the same servers.
 *
 * @param {{group: number, servers: number[]}} before
 * @param {Membership} membership
 */
export function goesOn({ group, servers }, { segment: [, , data] }) {
  return (
    group === data.group && servers.length === data.servers.length && servers.every((s, i) => s === data.servers[i])
  );
}

/**
 * Memberships of each job of a store, which grows.
 */
export class MembershipIndex {
  /** @param {import('./store.js').Store} store */
  constructor(store) {
    this.store = store;
    this.generation = store.generation;
    this.seen = 0; // groups read
    /** @type {Map<number, Segment[]>} */
    this.segments = new Map(); // job -> its segments
  }

  /**
   * @param {number} job
   * @returns {Membership[]}
   */
  of(job) {
    this.#sync();
    return [...memberships(this.segments.get(job) ?? [])].filter((one) => one.job === job);
  }

  #sync() {
    const { groups, generation } = this.store;
    if (this.generation !== generation) {
      this.generation = generation;
      this.segments.clear();
      this.seen = 0;
    }
    for (; this.seen < groups.length; this.seen++) {
      const segment = groups[this.seen];
      const [, , { jobs }] = segment;
      for (const job of jobs) {
        const own = this.segments.get(job);
        if (own) own.push(segment);
        else this.segments.set(job, [segment]);
      }
    }
  }
}
