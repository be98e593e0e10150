// State of each job at a time, and number of jobs in each state over time, by the rules of twin/eventlog/job_states.py;
// tests/fixtures/job_states.json pins both. These names are used wherever a job's state is shown: tiles, charts,
// tables, legends.

import { NEVER, SUSPENDED as SUSPENDED_WORKER, WORKER, validAt } from './columns/bars.js';
import { spansOf } from './job-spans.js';
import { memberships, membershipStates } from './memberships.js';
import { addInterval, blankBefore, meanUpTo, settle } from '../util/interval-sums.js';

/** @typedef {import('./store.js').Store} Store */

export const JOB_STATES = [
  'queued',
  'planned',
  'profiling',
  'moving',
  'running',
  'suspended',
  'completed',
  'rejected',
  'unfinished',
];
/** Name of the colour of each state, in colors() of util/colors.js. */
export const STATE_COLORS = {
  queued: 'muted',
  planned: 'warn',
  profiling: 'accent',
  moving: 'warn',
  running: 'accent',
  suspended: 'bad',
  completed: 'good',
  rejected: 'bad',
  unfinished: 'same',
};
export const [QUEUED, PLANNED, PROFILING, MOVING, RUNNING, SUSPENDED, COMPLETED, REJECTED, UNFINISHED] =
  JOB_STATES.keys();
export const ABSENT = 255; // has not arrived
export const UNSEEN = 254; // has arrived, at a time at which its cluster was not observed yet
const OF_ROLE = new Map([
  [WORKER, RUNNING],
  [SUSPENDED_WORKER, SUSPENDED],
]);
const DOING = { running: RUNNING, profiling: PROFILING, moving: MOVING };
/** @type {Record<string, string>} */
export const MEANING = {
  'not arrived': 'not submitted yet',
  queued: 'arrived, not started, without a plan: undecided, or its plan was withdrawn; or requeued by its cluster',
  planned: 'not started yet, planned to start later',
  profiling: 'in a group; its computation and communication times are being measured',
  moving: 'in a group; its model and input are being transferred',
  running: 'at least one worker runs',
  suspended: 'started, not completed, without a running worker; on a live cluster: suspended by the cluster',
  completed: 'all work is done',
  rejected: 'will not run; open a job for the reason',
  unfinished: 'not completed when the run ended',
};

/** The states that jobs can be in under every execution model; only jobs in groups are profiled and moved. */
export const SHARED_STATES = JOB_STATES.filter((_, code) => code !== PROFILING && code !== MOVING);

/**
 * [job] index in JOB_STATES at time p, or ABSENT or UNSEEN.
 *
 * @param {Store} store
 * @param {number} p
 */
export function jobStates(store, p) {
  const { jobs } = store;
  const { ran, doing, planned } = work(store, p);
  const codes = new Uint8Array(jobs.length).fill(ABSENT);
  /** @param {number} ms */
  const by = (ms) => ms !== NEVER && ms <= p;
  const over = store.finished && p >= store.simMs;
  const between = store.restated ? QUEUED : SUSPENDED; // two executions
  for (let job = 0; job < jobs.length; job++) {
    if (!by(jobs.arrived_ms[job])) continue;
    if (p < store.seenFromMs) codes[job] = UNSEEN;
    else if (by(jobs.completed_ms[job])) codes[job] = COMPLETED;
    else if (by(jobs.rejected_ms[job])) codes[job] = REJECTED;
    else if (over) codes[job] = UNFINISHED;
    else if (doing[job] !== ABSENT) codes[job] = doing[job];
    else if (ran[job])
      // once it has finished, its completion follows
      codes[job] = by(jobs.finish_ms[job]) && !endedWaiting(store, job, p) ? RUNNING : between;
    else codes[job] = planned[job] ? PLANNED : QUEUED;
  }
  return codes;
}

/**
 * True if a job of a real cluster ended while it waited again: what it held ended earlier than itself.
 *
 * @param {Store} store
 * @param {number} job
 * @param {number} p
 */
const endedWaiting = ({ jobs, requeues }, job, p) => requeues.endOf(job, p) > jobs.finish_ms[job];

/**
 * Time at which a job was rejected, also long after its first decision; null: not by time p.
 *
 * @param {Store['jobs']} jobs
 * @param {number} job
 * @param {number} p
 */
export function rejectionBy({ rejected_ms }, job, p) {
  const ms = rejected_ms[job];
  return ms !== NEVER && ms <= p ? ms : null;
}

/**
 * [job] `ran`: whether it has run by p; `doing`: RUNNING, PROFILING, MOVING or SUSPENDED at p, else ABSENT; `planned`:
 * whether a worker is planned for it at p.
 *
 * @param {Store} store
 * @param {number} p
 */
function work({ jobs, bars, groups, suspensions, requeues }, p) {
  const ran = new Uint8Array(jobs.length);
  const planned = new Uint8Array(jobs.length);
  const doing = new Uint8Array(jobs.length).fill(ABSENT);
  const placed = new Uint8Array(jobs.length); // whether it has any bar
  for (let bar = 0; bar < bars.length; bar++) {
    placed[bars.job[bar]] = 1;
    const state = OF_ROLE.get(bars.role[bar]);
    if (state === undefined || !validAt(bars, bar, p)) continue;
    const begun = bars.start_ms[bar] <= p;
    (begun ? ran : planned)[bars.job[bar]] = 1;
    if (begun && bars.end_ms[bar] > p) doing[bars.job[bar]] = state;
  }
  for (const [job, , until] of requeues.begun(p)) if (until > p) placed[job] = 1; // it waits
  for (let job = 0; job < jobs.length; job++) {
    const start = jobs.start_ms[job];
    if (placed[job] || start === NEVER || start > p) continue;
    ran[job] = 1; // a job of a real cluster that does not state where it runs
    const finish = jobs.finish_ms[job];
    if (finish === NEVER || finish > p) doing[job] = RUNNING;
  }
  for (const membership of memberships(groups, p)) {
    const { job, until } = membership;
    ran[job] = 1;
    if (until !== NEVER) continue;
    const [state] = membershipStates(membership).findLast(([, begin]) => begin <= p) ?? [];
    if (state) doing[job] = DOING[state];
  }
  for (const [job, , until] of suspensions.begun(p)) if (until > p && doing[job] === RUNNING) doing[job] = SUSPENDED;
  return { ran, doing, planned };
}

/**
 * {state: mean number of jobs in it per bin}, as known at p. The bin that contains p covers only the time up to p;
 * later bins are 0. NaN before the first poll of a real cluster.
 *
 * @param {Store} store
 * @param {number} p
 * @param {number} from
 * @param {number} width
 * @param {number} bins
 */
export function jobCounts(store, p, from, width, bins) {
  const { jobs } = store;
  const spans = spansOf(store, p);
  const sums = Object.fromEntries(JOB_STATES.map((name) => [name, new Float64Array(bins + 2)]));
  /** @type {(state: string, begin: number, end: number) => void} */
  const add = (state, begin, end) => {
    if (end > begin) addInterval(sums[state], bins, from, width, begin, end, 1);
  };
  /** @param {number} ms */
  const by = (ms) => (ms !== NEVER && ms <= p ? ms : Infinity);
  const over = store.finished && p >= store.simMs ? store.simMs : Infinity;
  const now = p + 1; // the ms of p is included
  const between = store.restated ? 'queued' : 'suspended'; // two executions
  for (let job = 0; job < jobs.length; job++) {
    if (by(jobs.arrived_ms[job]) === Infinity) continue;
    const { state: last, ms: ended } = lastState(by(jobs.completed_ms[job]), by(jobs.rejected_ms[job]), over);
    if (last) add(last, ended, now);
    const end = Math.min(ended, now);
    const list = spans.of(job);
    const begun = Math.min(end, list.length ? list[0].begin : Infinity);
    let waited = jobs.arrived_ms[job]; // up to here
    for (const [born, until] of spans.plannedOf(job)) {
      const [from, to] = [Math.min(Math.max(born, waited), begun), Math.min(until, begun)];
      add('queued', waited, from);
      add('planned', from, to);
      waited = Math.max(from, to);
    }
    add('queued', waited, begun);
    let reached = begun;
    for (const { begin, until, state } of list) {
      add(between, reached, Math.min(begin, end));
      add(state, Math.max(begin, reached), Math.min(until, end));
      reached = Math.max(reached, Math.min(until, end));
    }
    const ends = by(jobs.finish_ms[job]) < Infinity && !endedWaiting(store, job, p);
    add(ends ? 'running' : between, reached, end); // its completion follows
  }
  for (const sum of Object.values(sums)) {
    meanUpTo(settle(sum, bins), bins, from, width, p);
    blankBefore(sum, from, width, store.seenFromMs);
  }
  return sums;
}

/**
 * The final state of a job, and its time; Infinity = not yet.
 *
 * @param {number} completed
 * @param {number} rejected
 * @param {number} over when the run ended
 */
function lastState(completed, rejected, over) {
  if (completed < Infinity) return { state: 'completed', ms: completed };
  if (rejected < Infinity) return { state: 'rejected', ms: rejected };
  return { state: over < Infinity ? 'unfinished' : '', ms: over };
}
