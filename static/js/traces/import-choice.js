// Selection of jobs to import: the estimated number of jobs, and the selection in the form of the API.

import { inWindow, span } from '../charts/traces/arrival-histogram.js';
import { arrivalSpan } from './arrival-span.js';

export const HOUR_MS = 3_600_000;

/**
 * Estimated number of selected jobs: {jobs, exact, over: [least, most] ms, the time span of their arrivals, or null if
 * that is not known: which jobs of a sample or of some groups arrive first is decided by the import}. choice: {from_ms,
 * to_ms, groups: names or null for all, sample, limit, rate}, each may be undefined.
 */
export function about({ jobs, arrivals, groups }, choice) {
  const [first, last] = span(arrivals);
  const from = Math.max(first, choice.from_ms ?? first);
  const to = Math.min(last, choice.to_ms ?? last);
  const whole = from <= first && to >= last;
  let count = whole ? jobs : inWindow(arrivals, from, to);
  const some = Boolean(choice.groups && groups);
  if (some) {
    const wanted = new Set(choice.groups);
    const taken = groups.reduce((sum, [name, n]) => sum + (wanted.has(name) ? n : 0), 0);
    count *= jobs ? taken / jobs : 0;
  }
  count = Math.round(count);
  const sampled = choice.sample !== undefined && choice.sample < count;
  if (sampled) count = choice.sample;
  if (choice.limit !== undefined && choice.limit < count) count = choice.limit;
  const over = sampled || (some && groups.length > choice.groups.length) ? null : arrivalSpan(arrivals, choice);
  return { jobs: count, exact: whole, over: over && over.map((ms) => ms / (choice.rate ?? 1)) };
}

/** Hours with as few digits as the span allows: a drag over weeks gives whole hours, one over minutes gives seconds. */
export function roundHours(ms, spanMs) {
  const step = 10 ** Math.floor(Math.log10(Math.max(1e-6, spanMs / HOUR_MS / 150)));
  return Number((Math.round(ms / HOUR_MS / step) * step).toPrecision(12));
}

/** The body of an import: undefined values and "all" are omitted, and the options of the scan are kept. */
export function importBody(trace, choice) {
  const { name, seed, slot_ms, ...rest } = choice;
  const body = { format: trace.format, seed: seed ?? trace.seed ?? 0, ...rest };
  if (name) body.name = name;
  if (slot_ms !== undefined) body.slot_ms = slot_ms;
  for (const key of ['mapping', 'time_unit', 'time_zone', 'cpu_jobs'])
    if (trace.options?.[key]) body[key] = trace.options[key];
  if (body.groups === null) delete body.groups;
  if (body.rate === 1) delete body.rate;
  for (const key of Object.keys(body)) if (body[key] === undefined) delete body[key];
  return body;
}
