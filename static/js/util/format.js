// Numbers and times as text with units.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
export const MIN_TWO_DECIMALS = 0.01; // smallest amount that is written with two decimals
const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  5 * DAY,
  10 * DAY,
  20 * DAY,
  50 * DAY,
  100 * DAY,
  200 * DAY,
  500 * DAY,
  1000 * DAY,
];

/** @type {number | null} */
let epochMs = null; // Unix ms at which the times of the run of the page begin; null of a run without such a moment

/**
 * Sets the moment of the real world from which the times of the run of this page count, such as a live cluster's: its
 * times are then written in UTC.
 *
 * @param {string | null | undefined} beganAt ISO text; none of any other run
 */
export function countFrom(beganAt) {
  epochMs = beganAt ? Date.parse(beganAt) : null;
}

/** Unix ms at which the times of the run of this page begin; null of a run without such a moment. */
export const epoch = () => epochMs;

/**
 * A point in the time of the run of this page, in ms of its log: as elapsed() writes it; or in UTC, with the date where
 * it is not today's, and named so where it is exact.
 *
 * @param {number | null | undefined} ms
 * @param {number} stepMs ms between two such points: how much is written
 * @param {number} nowMs wall clock
 */
export function clock(ms, stepMs = SECOND, nowMs = Date.now()) {
  if (epochMs === null || !isNumber(ms)) return elapsed(ms, stepMs);
  const iso = new Date(epochMs + Math.round(ms)).toISOString();
  const date = iso.slice(0, 10) === new Date(nowMs).toISOString().slice(0, 10) ? '' : `${iso.slice(5, 10)} `;
  const end = stepMs < SECOND ? 23 : stepMs < MINUTE ? 19 : 16;
  return `${date}${iso.slice(11, end)}${stepMs <= SECOND ? ' UTC' : ''}`;
}

/**
 * A point in simulated time, ms since the scenario's start: '2d 03:15', '03:15:20', '00:00:01.250'.
 *
 * @param {number | null | undefined} ms
 * @param {number} stepMs ms between two such points: how much is written
 */
export function elapsed(ms, stepMs = SECOND) {
  if (!isNumber(ms)) return '–';
  const sign = ms < 0 ? '−' : '';
  let rest = Math.abs(Math.round(ms));
  const days = Math.floor(rest / DAY);
  rest -= days * DAY;
  /** @param {number} n */
  const two = (n) => String(n).padStart(2, '0');
  let text = `${two(Math.floor(rest / HOUR))}:${two(Math.floor((rest % HOUR) / MINUTE))}`;
  if (stepMs < MINUTE) text += `:${two(Math.floor((rest % MINUTE) / SECOND))}`;
  if (stepMs < SECOND) text += `.${String(rest % SECOND).padStart(3, '0')}`;
  return `${sign}${days ? `${days}d ` : ''}${text}`;
}

/**
 * A point in simulated time with its milliseconds, if it has any: two events within a second have different labels.
 *
 * @param {number} ms
 */
export const exactClock = (ms) => clock(ms, Math.round(ms) % SECOND ? 1 : SECOND);

/**
 * A length of time: '850 ms', '12.5 s', '3m 20s', '2h 5m', '3d 4h'.
 *
 * @param {number | null | undefined} ms
 */
export function duration(ms) {
  if (!isNumber(ms)) return '–';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < MINUTE) return `${trim(ms / SECOND, 1)} s`;
  if (ms < HOUR) return pair(ms, MINUTE, 'm', SECOND, 's');
  if (ms < DAY) return pair(ms, HOUR, 'h', MINUTE, 'm');
  return pair(ms, DAY, 'd', HOUR, 'h');
}

/**
 * @param {number} ms
 * @param {number} big
 * @param {string} bigUnit
 * @param {number} small
 * @param {string} smallUnit
 */
function pair(ms, big, bigUnit, small, smallUnit) {
  let whole = Math.floor(ms / big);
  let rest = Math.round((ms - whole * big) / small);
  if (rest * small >= big) [whole, rest] = [whole + 1, 0];
  const first = `${number(whole, 0)}${bigUnit}`;
  return rest ? `${first} ${rest}${smallUnit}` : first;
}

/**
 * The text of a number with a minus sign instead of a hyphen.
 *
 * @param {string} text
 */
const signed = (text) => text.replace(/^-/, '−');

/**
 * 1234.5 -> '1,234.5', with at most `digits` decimals.
 *
 * @param {number | null | undefined} value
 * @param {number} digits
 */
export function number(value, digits = 2) {
  if (!isNumber(value)) return '–';
  return signed(value.toLocaleString('en-US', { maximumFractionDigits: digits, signDisplay: 'negative' }));
}

/**
 * Always `digits` decimals, so that a column of numbers lines up.
 *
 * @param {number | null | undefined} value
 * @param {number} digits
 */
export function fixed(value, digits = 2) {
  if (!isNumber(value)) return '–';
  return signed(value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }));
}

/**
 * Three significant digits, also for very small and very large values: '0.00123', '1.2e-9'.
 *
 * @param {number | null | undefined} value
 */
export function significant(value) {
  return rounded(value, 3);
}

/**
 * Two decimals, or three significant digits of a smaller amount: a payoff of 0.00047 is not 0.00.
 *
 * @param {number | null | undefined} value
 */
export function amount(value) {
  return isNumber(value) && value && Math.abs(value) < MIN_TWO_DECIMALS ? significant(value) : fixed(value);
}

/**
 * The same as `significant`, with a given number of digits.
 *
 * @param {number | null | undefined} value
 * @param {number} digits
 */
export function rounded(value, digits) {
  if (!isNumber(value)) return '–';
  if (value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7)) return signed(value.toExponential(digits - 1));
  if (Math.abs(value) >= 1000) return number(value, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
  return signed(String(Number(value.toPrecision(digits))));
}

/**
 * As `rounded`, but with the decimals of the largest value, `most`, and at least two: a column of them lines up.
 *
 * @param {number | null | undefined} value
 * @param {number} digits
 * @param {number} most
 */
export function alignedText(value, digits, most) {
  if (!isNumber(value)) return '–';
  if (most < 1e-4 || most >= 1e7) return rounded(value, digits);
  return fixed(value, Math.max(2, digits - 1 - Math.floor(Math.log10(most))));
}

/**
 * Number of significant digits, 3 to 9, that distinguish the values to a hundredth of their range.
 *
 * @param {number[]} values
 */
export function telling(values) {
  const known = values.filter((value) => Number.isFinite(value));
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const range = most - least;
  if (!(range > 0)) return 3;
  const shared = Math.ceil(Math.log10(Math.max(Math.abs(least), Math.abs(most)) / range));
  return Math.min(9, Math.max(3, shared + 2));
}

/**
 * @param {number | null | undefined} share
 * @param {number} digits
 */
export function percent(share, digits = 0) {
  return isNumber(share) ? `${signed((share * 100).toFixed(digits).replace(/^-(?=[0.]+$)/, ''))} %` : '–';
}

/**
 * A proved lower bound of a share, with two digits: rounded down, as a larger share is not proved.
 *
 * @param {number | null | undefined} share
 */
export function provedShare(share) {
  return percent(isNumber(share) ? Math.floor(share * 10_000 + 1e-6) / 10_000 : null, 2);
}

/**
 * A title within a sentence: "order of the queue", but "GPUs".
 *
 * @param {string} title
 */
export function lowered(title) {
  return /^.[A-Z]/.test(title) ? title : title.charAt(0).toLowerCase() + title.slice(1);
}

/**
 * '1 job', '2 jobs'.
 *
 * @param {number} count
 * @param {string} word
 */
export function plural(count, word) {
  return `${number(count, 0)} ${word}${count === 1 ? '' : 's'}`;
}

/**
 * The sign of a unit: '×' for a ratio.
 *
 * @param {string} unit
 */
export const unitText = (unit) => (unit === 'x' ? '×' : unit);

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${trim(count / 1e3, 1)} kB`;
  if (count < 1e9) return `${trim(count / 1e6, 1)} MB`;
  return `${trim(count / 1e9, 1)} GB`;
}

/**
 * A wall-clock time from an ISO text, in UTC.
 *
 * @param {string | null | undefined} iso
 */
export function wall(iso) {
  return iso ? `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC` : '–';
}

/**
 * The same of Unix seconds.
 *
 * @param {number} seconds
 */
export function wallOfUnix(seconds) {
  return wall(new Date(seconds * 1000).toISOString());
}

/**
 * The same with seconds, for a time from which others are counted.
 *
 * @param {string} iso
 */
export function wallSeconds(iso) {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/**
 * The time of day of a Date.now(), in UTC.
 *
 * @param {number} ms
 */
export function wallClock(ms) {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

/**
 * Round tick positions in [from, to] of the time of the run of this page, about `wanted` of them: {step, ticks}. All in
 * ms; round by the clock if the run counts from a moment of the real world.
 *
 * @param {number} from
 * @param {number} to
 * @param {number} wanted
 */
export const timeTicks = (from, to, wanted) => roundTicks(from, to, wanted, epochMs ?? 0);

/**
 * The same of lengths of time, which count from 0.
 *
 * @param {number} from
 * @param {number} to
 * @param {number} wanted
 */
export const lengthTicks = (from, to, wanted) => roundTicks(from, to, wanted, 0);

/**
 * @param {number} from
 * @param {number} to
 * @param {number} wanted
 * @param {number} originMs ms of 0 by the clock
 */
function roundTicks(from, to, wanted, originMs) {
  const rough = (to - from) / Math.max(1, wanted);
  const step = timeStep(rough);
  const ticks = [];
  const ahead = originMs % step;
  for (let t = Math.ceil((from + ahead) / step) * step - ahead; t <= to && ticks.length < 200; t += step) ticks.push(t);
  return { step, ticks };
}

/**
 * The smallest round time that is at least the length, in ms.
 *
 * @param {number} length
 */
export const timeStep = (length) => STEPS.find((step) => step >= length) ?? roundStep(length / DAY) * DAY;

/**
 * The smallest number that is at least the length and is 1, 2 or 5 times a power of ten.
 *
 * @param {number} length
 */
export function roundStep(length) {
  const unit = 10 ** Math.floor(Math.log10(length));
  return ([1, 2, 5].find((times) => times * unit >= length) ?? 10) * unit;
}

/**
 * @param {number | null | undefined} value
 * @returns {value is number}
 */
function isNumber(value) {
  return Number.isFinite(value);
}

/**
 * @param {number} value
 * @param {number} digits
 */
function trim(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/**
 * The text with a capital letter at its beginning, but 'vCPU' as it is: 'memory' -> 'Memory'.
 *
 * @param {string} text
 */
export const capital = (text) => (/^.[A-Z]/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1));

/**
 * A reason as a sentence: 'name may not be blank' -> 'Name may not be blank.'
 *
 * @param {string} text
 */
export function sentence(text) {
  if (!text) return '';
  return `${capital(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
