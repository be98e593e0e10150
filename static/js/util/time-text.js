// Times and durations of the simulation as users type them: '2d 03:15', '03:15:20', '3h 58m', '90 min', '1.5 h', '250
// ms'.

import { elapsed, epoch } from './format.js';

/** @type {Record<string, number>} */
const UNITS = { ms: 1, s: 1000, sec: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
export const EXAMPLE = 'for example 2d 03:15 or 3h 58m';
const MAX_MS = 2 ** 53; // of the server

/**
 * Whole ms, or null if the text is not a time, or is a time that is too large. A plain 0 is a time.
 *
 * @param {string} text
 */
export function parseTime(text) {
  const ms = parsed(text);
  return ms === null || ms > MAX_MS ? null : ms;
}

/**
 * A time of the run of this page, in ms of its log: where its times count from a moment of the real world, a UTC time
 * ('14:20', '11-30 14:20', '2026-11-30 14:20:05'), at the latest at endMs; else as parseTime reads it. null likewise.
 *
 * @param {string} text
 * @param {number} endMs of the run
 */
export function parsePoint(text, endMs) {
  const from = epoch();
  const parts = /^(?:(?:(\d{4})-)?(\d{2}-\d{2}) +)?(\d{1,2}:\d{2}(?::\d{2})?)(?: *utc)?$/i.exec(text.trim());
  if (from === null || !parts) return parseTime(text);
  const [, year, day, time] = parts;
  const last = new Date(from + endMs).toISOString();
  const date = `${year ?? last.slice(0, 4)}-${day ?? last.slice(5, 10)}`;
  const ms = Date.parse(`${date}T${time.padStart(time.length + (time.indexOf(':') < 2 ? 1 : 0), '0')}Z`) - from;
  if (!Number.isFinite(ms)) return null;
  return Math.max(0, day === undefined && ms > endMs ? ms - UNITS.d : ms);
}

/** Examples of what parsePoint reads. */
export const pointExample = () => (epoch() === null ? EXAMPLE : 'for example 14:20 or 11-30 14:20, in UTC');

/**
 * The reason for which parseTime refuses the text, as a sentence.
 *
 * @param {string} text
 */
export function timeProblem(text) {
  return parsed(text) === null
    ? `“${text}” is not a time; enter one, ${EXAMPLE}.`
    : `“${text}” is too large; the largest time is ${momentText(MAX_MS)}.`;
}

/** @param {string} text */
function parsed(text) {
  const given = text.trim().toLowerCase();
  if (given === '0') return 0;
  const parts = /^(?:(\d+)\s*d\s*)?(\d{1,3}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?$/.exec(given);
  if (parts) {
    const [, days, hours, minutes, seconds, rest] = parts;
    const ms = rest === undefined ? 0 : Number(rest.padEnd(3, '0'));
    return (((Number(days ?? 0) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds ?? 0)) * 1000 + ms;
  }
  let total = 0;
  let rest = given;
  while (rest) {
    const piece = /^(\d+(?:\.\d+)?)\s*(ms|sec|s|min|m|h|d)\s*/.exec(rest);
    if (!piece) return null;
    total += Number(piece[1]) * UNITS[piece[2]];
    rest = rest.slice(piece[0].length);
  }
  return given ? Math.round(total) : null;
}

/**
 * A time as the value of a field, the shortest text that parseTime reads back: '0', '2d 03:15:00', '250 ms'.
 *
 * @param {number} ms
 */
export function timeText(ms) {
  if (ms === 0) return '0';
  return ms < 1000 ? `${ms} ms` : momentText(ms);
}

/**
 * A moment in a sentence, exact to the ms, as the server writes it (twin/scenarios/edits/moments.py): '00:00:00',
 * '2d 03:15:00.250'.
 *
 * @param {number} ms
 */
export function momentText(ms) {
  return elapsed(ms, ms % 1000 ? 1 : 1000);
}
