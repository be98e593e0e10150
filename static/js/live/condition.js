// Condition of a live cluster in words: state, age of the data, lag of facts, cost of following.

import { duration, number, percent, plural, wallOfUnix, wallSeconds } from '../util/format.js';

/**
 * A connection as GET /api/connections/ answers.
 *
 * @typedef {{
 *   state: string, since: number | null, message: string, age_ms: number | null, stale_after_ms: number,
 *   event_ms: number | null, polled_ago_ms: number | null,
 *   seen_ms: number | null, clock_offset_ms: number | null, lag: {p50_ms?: number, p99_ms?: number, facts?: number},
 *   cost: {calls_per_minute?: number, ms_per_call?: number, share?: number}, counts: Record<string, number>,
 *   not_up: {total: number, nodes: {name: string, state: string, reason: string}[]},
 *   samples?: {sampler?: string, state?: string, message?: string, age_ms?: number | null, nodes?: number},
 *   audit: {checked_at?: number | null, compared?: number, count?: number, error?: string, accounted?: boolean,
 *     differences?: {subject: string, field: string, log: string, cluster: string}[]},
 * }} Condition
 */

const MAX_OFFSET_MS = 2000; // clock offsets above this are reported

/** @type {Record<string, string>} */
const STATES = {
  following: 'following',
  stale: 'stale',
  failing: 'not answering',
  paused: 'paused',
  starting: 'starting',
};

/** @param {string} state */
export const stateText = (state) => STATES[state] ?? state;

/**
 * The age of the data now, ms; null before the first answer.
 *
 * @param {Condition} condition
 * @param {number} elapsedMs since the condition was received
 */
export const ageMs = ({ age_ms: age }, elapsedMs) => (age === null ? null : age + elapsedMs);

/**
 * Whole seconds, at least 1.
 *
 * @param {number} ms
 */
const wholeSeconds = (ms) => duration(Math.max(1000, Math.round(ms / 1000) * 1000));

/**
 * 'data 2 s old', or 'last contact 2 s ago' of a cluster that posts events; '' before the first answer.
 *
 * @param {Condition} condition
 * @param {number} elapsedMs
 */
export function ageText(condition, elapsedMs) {
  const age = ageMs(condition, elapsedMs);
  if (age === null) return '';
  return condition.event_ms === null ? `data ${wholeSeconds(age)} old` : `last contact ${wholeSeconds(age)} ago`;
}

/**
 * 'last event at 2026-11-30 21:28:28 UTC, 3 m 13 s ago'; '' of a cluster that does not post events.
 *
 * @param {Condition} condition
 * @param {number} nowMs Date.now()
 */
export function eventText({ event_ms: event }, nowMs) {
  return event === null
    ? ''
    : `last event at ${wallSeconds(new Date(event).toISOString())}, ${wholeSeconds(nowMs - event)} ago`;
}

/**
 * True if the data are too old to count as current.
 *
 * @param {Condition} condition
 * @param {number} elapsedMs
 */
export function isOld(condition, elapsedMs) {
  const age = ageMs(condition, elapsedMs);
  return condition.state === 'failing' || (age !== null && age > condition.stale_after_ms);
}

/** @param {Condition} condition */
export function lagText({ lag }) {
  if (lag.p50_ms === undefined) return '';
  return `lag ${duration(lag.p50_ms)} (median), ${duration(lag.p99_ms)} (99th percentile)`;
}

/** @param {Condition} condition */
export function costText({ cost }) {
  if (cost.calls_per_minute === undefined) return '';
  const parts = [`${number(cost.calls_per_minute, 1)} calls/min`];
  if (cost.ms_per_call !== undefined) parts.push(`${number(cost.ms_per_call, 1)} ms each`);
  // the controller counts elapsed time, which is more than its processor time while it waits
  if (cost.share !== undefined) parts.push(`at most ${percent(cost.share, cost.share < 0.01 ? 2 : 1)} of one core`);
  return parts.join(', ');
}

/**
 * A sentence about the clocks if they differ by more than MAX_OFFSET_MS.
 *
 * @param {Condition} condition
 */
export function offsetText({ clock_offset_ms: offset }) {
  if (offset === null || Math.abs(offset) <= MAX_OFFSET_MS) return '';
  const side = offset > 0 ? 'ahead of' : 'behind';
  return `The clock of the cluster is ${duration(Math.abs(offset))} ${side} the server's.`;
}

/**
 * 'drift audit: 0 differences in 312 jobs and nodes, 2026-11-22 13:40 UTC'; '' before the first one.
 *
 * @param {Condition} condition
 */
export function auditText({ audit }) {
  if (audit.error) return `drift audit failed: ${audit.error}`;
  if (!audit.checked_at) return '';
  const found = plural(audit.count ?? 0, 'difference');
  const at = wallOfUnix(audit.checked_at);
  const without = audit.accounted === false ? ' (the cluster keeps no accounting)' : '';
  return `drift audit: ${found} in ${number(audit.compared, 0)} jobs and nodes${without}, ${at}`;
}

/**
 * 'samples of 12 nodes, 40 s old'; '' without a sampler.
 *
 * @param {Condition} condition
 * @param {number} elapsedMs
 */
export function samplesText({ samples }, elapsedMs) {
  if (!samples?.sampler) return '';
  const age = samples.age_ms ?? null;
  if (age === null) return samples.state === 'failing' ? 'no samples' : 'waiting for samples';
  return `samples of ${plural(samples.nodes ?? 0, 'node')}, ${wholeSeconds(age + elapsedMs)} old`;
}

/**
 * Missing parts of the samples, as a sentence; '' where nothing is.
 *
 * @param {Condition} condition
 */
export function samplesMessage({ samples }) {
  return samples?.message ? `Samples: ${samples.message}.` : '';
}

/**
 * 'Nodes not up: edge6, draining (fan 3 replaced); n7, down; and 3 more.'; '' while all nodes are up.
 *
 * @param {Condition} condition
 */
export function notUpText({ not_up: { total, nodes } }) {
  if (!total) return '';
  const named = nodes.map(({ name, state, reason }) => `${name}, ${state}${reason ? ` (${reason})` : ''}`);
  const rest = total - nodes.length;
  return `Nodes not up: ${[...named, ...(rest ? [`and ${number(rest, 0)} more`] : [])].join('; ')}.`;
}

/** @param {Condition} condition */
export const waiting = ({ counts }) => (counts.waiting ?? 0) + (counts.held ?? 0);

/**
 * '12 nodes, 5 jobs run, 30 wait'; '' before the first answer.
 *
 * @param {Condition} condition
 */
export function countsText(condition) {
  const { counts } = condition;
  if (counts.nodes === undefined) return '';
  const words = [`${plural(counts.nodes, 'node')}`, `${number(counts.running ?? 0, 0)} running`];
  if (counts.suspended) words.push(`${number(counts.suspended, 0)} suspended`);
  words.push(`${number(waiting(condition), 0)} waiting`);
  return words.join(', ');
}

/**
 * A remedy in parts: text, and commands that can be copied.
 *
 * @param {string} remedy
 * @returns {{text?: string, code?: string}[]}
 */
export function remedyParts(remedy) {
  const parts = [];
  let end = 0;
  for (const match of remedy.matchAll(/`([^`]+)`|((?:python )?manage\.py [^;]+)/g)) {
    if (match.index > end) parts.push({ text: remedy.slice(end, match.index) });
    parts.push({ code: match[1] ?? match[2] });
    end = match.index + match[0].length;
  }
  if (end < remedy.length) parts.push({ text: remedy.slice(end) });
  return parts;
}

/**
 * Totals of each site: [{site, nodes, gpus, cpus}], the edge first.
 *
 * @param {{site: string, gpus: number, cpus: number}[]} nodes
 */
export function bySite(nodes) {
  return ['edge', 'cloud'].map((site) => {
    const own = nodes.filter((node) => node.site === site);
    /** @param {'gpus' | 'cpus'} key */
    const sum = (key) => own.reduce((total, node) => total + node[key], 0);
    return { site, nodes: own.length, gpus: sum('gpus'), cpus: sum('cpus') };
  });
}

/**
 * A command that posts a first event of a source.
 *
 * @param {string} origin
 * @param {string} source
 * @param {string} now ISO time
 */
export function curlExample(origin, source, now) {
  const event = {
    specversion: '1.0',
    id: '1',
    source: `/${source}`,
    type: 'node.changed',
    subject: 'gpu1',
    time: now,
    data: { gpus: 4, cpus: 64, queues: ['edge'] },
  };
  return [
    'curl --fail --header "Authorization: Bearer $TWIN_TOKEN" \\',
    '     --header "Content-Type: application/cloudevents-batch+json" \\',
    `     --data '[${JSON.stringify(event)}]' \\`,
    `     ${origin}/api/ingest/${source}/events`,
  ].join('\n');
}
