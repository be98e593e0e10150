// Wall-clock times of a run: a live cluster and a live run have a clock {sim_ms, wall_ms, speed}; times of a live
// cluster, and of cuts of it, count from the moment at which its log begins.

import { clock, wall, wallClock } from './format.js';

/**
 * A point in the time of a run, in ms of its log: as clock() writes it, or of a run that counts from a moment of the
 * real world, the time in UTC.
 *
 * @param {number | null | undefined} ms
 * @param {string | null | undefined} beganAt that moment as ISO text; none of any other run
 * @param {number} nowMs wall clock
 */
export function runTime(ms, beganAt, nowMs = Date.now()) {
  return beganAt && Number.isFinite(ms) ? utcTime(Date.parse(beganAt) + Number(ms), nowMs) : clock(ms);
}

/**
 * '14:20:05 UTC', with the date in place of the seconds where it is not that of nowMs.
 *
 * @param {number} ms wall clock
 * @param {number} nowMs
 */
export function utcTime(ms, nowMs = Date.now()) {
  const iso = new Date(ms).toISOString();
  return iso.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10) ? wallClock(ms) : wall(iso);
}

/**
 * The clock of a run whose times count from beganAt, as for wallOf(); null of any other run.
 *
 * @param {string | null | undefined} beganAt as for runTime()
 */
export function datedClock(beganAt) {
  return beganAt ? { sim_ms: 0, wall_ms: Date.parse(beganAt), speed: 1 } : null;
}

/**
 * Wall ms of the simulated time t; null without a clock that runs, and before its last start or change of speed.
 *
 * @param {{sim_ms: number, wall_ms?: number | null, speed: number} | null | undefined} clock
 * @param {number} t
 */
export function wallOf(clock, t) {
  if (!clock || clock.wall_ms === null || clock.wall_ms === undefined) return null;
  if (!(clock.speed > 0) || t < clock.sim_ms) return null;
  return clock.wall_ms + (t - clock.sim_ms) / clock.speed;
}

/**
 * '2026-11-24 19:40:05 UTC, 20:40:05 local (UTC+1)': with the date where it differs, and without the local time where
 * that is UTC.
 *
 * @param {number} ms
 * @param {number} offsetMin minutes that the local time is ahead of UTC
 */
export function wallText(ms, offsetMin = -new Date(ms).getTimezoneOffset()) {
  const [date, time] = parts(ms);
  if (!offsetMin) return `${date} ${time} UTC`;
  const [localDate, localTime] = parts(ms + offsetMin * 60_000);
  const day = localDate === date ? '' : `${localDate} `;
  return `${date} ${time} UTC, ${day}${localTime} local (UTC${offsetText(offsetMin)})`;
}

/** @param {number} ms */
function parts(ms) {
  const iso = new Date(ms).toISOString();
  return [iso.slice(0, 10), iso.slice(11, 19)];
}

/** @param {number} minutes */
function offsetText(minutes) {
  const size = Math.abs(minutes);
  const rest = size % 60 ? `:${String(size % 60).padStart(2, '0')}` : '';
  return `${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest}`;
}
