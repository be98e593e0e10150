// Times and durations of the simulation as users type them: '2d 03:15', '03:15:20', '3h 58m', '90 min', '1.5 h', '250
// ms'.

import { clock } from './format.js';

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
  return clock(ms, ms % 1000 ? 1 : 1000);
}
