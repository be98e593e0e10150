// Computations of the compare page: the address, values and deltas as text, kinds of difference, colours by
// run.

import { valueText } from '../core/metric-table.js';
import { clock, number, plural } from '../util/format.js';

export const DIFFERENCE_TYPES = ['shifted', 'moved', 'not_rejected', 'rejected', 'preempted'];
/** The name of a kind as text: 'not_rejected' is 'not rejected'. @param {string} kind */
export const kindWord = (kind) => kind.replaceAll('_', ' ');
/** Value in place of the kinds of difference of a job that not all runs have, or whose run is of another trace. */
export const NOT_COMPARED = 255;
// positions in the palette of jobs, without those of the first two runs, which most comparisons are of
export const KIND_COLORS = { shifted: 6, moved: 3, not_rejected: 2, rejected: 5, preempted: 4 };
const WEIGHT = ['not_rejected', 'rejected', 'preempted', 'moved', 'shifted']; // order of priority for job colours

const RUN = /^\d{1,15}$/; // its number in an address

/** The parts of a list in an address. */
const partsOf = (text) => (text ?? '').split(',').flatMap((part) => part.trim() || []);

/** '3,5,x,5' -> [3, 5]: the runs of the address, each once. */
export function runsOf(text) {
  const ids = partsOf(text).filter((part) => RUN.test(part));
  return [...new Set(ids.map(Number))];
}

/** '3,5,x,5' -> ['x']: the parts of the address that are no runs. */
export const unreadable = (text) => partsOf(text).filter((part) => !RUN.test(part));

/** The address of a comparison with these parameters. */
export function address(ids, more = {}) {
  const query = new URLSearchParams(more).toString();
  return `/compare/?runs=${ids.join(',')}${query ? `&${query}` : ''}`;
}

/** The address of other runs with the same view of the page; what it says of runs that are gone is dropped. */
export function addressOf(ids, search) {
  const kept = new URLSearchParams(search);
  for (const name of ['runs', 'page']) kept.delete(name);
  if (!ids.slice(1).includes(Number(kept.get('against')))) kept.delete('against');
  return address(ids, kept);
}

/** `id` first, the others in their order. */
export const withBase = (ids, id) => [id, ...ids.filter((other) => other !== id)];

/** Moves `id` to the last of the runs compared in full. */
export function inFull(ids, id, most) {
  const others = ids.filter((other) => other !== id);
  return [...others.slice(0, most - 1), id, ...others.slice(most - 1)];
}

/** A difference with its sign: '+2 h 5 min', '−3.2 points', '±0', '≈ 0' if it is too small to display. */
export function deltaText(delta, unit) {
  if (delta === null || delta === undefined) return '';
  if (delta === 0) return '±0';
  const sign = delta > 0 ? '+' : '−';
  const points = Math.abs(delta) * 100;
  if (unit === 'share') {
    const text = number(points, points < 0.1 ? 3 : 1);
    return text === '0' ? '≈ 0' : sign + pointsText(text);
  }
  const text = valueText(Math.abs(delta), unit);
  return text === valueText(0, unit) || text.startsWith('<') ? '≈ 0' : sign + text;
}

const pointsText = (text) => `${text} ${text === '1' ? 'point' : 'points'}`;

const ALIKE = 0.001; // relative difference of values that are equal if they are also displayed alike

/** True if two values of a unit are equal, as the server compares them. */
export function alike(a, b, unit) {
  if (a === b) return true;
  return Math.abs(a - b) <= ALIKE * Math.max(Math.abs(a), Math.abs(b)) && valueText(a, unit) === valueText(b, unit);
}

/** True if all runs have the same value of a metric. */
export const same = ({ values, unit }) =>
  values.every(({ value, why }) => !why && value !== null && alike(value, values[0].value, unit));

/** '+2 h 5 min, +12 % worse', 'same', 'not ranked', or '' without a difference, for a cell of the metrics. */
export function changeText({ value, delta, relative, verdict, ranked = true }, unit) {
  if (!ranked) return value === null ? '' : 'not ranked';
  if (delta === null) return '';
  if (delta === 0 || verdict === 'same') return 'same';
  const difference = deltaText(delta, unit);
  if (difference === '≈ 0') return difference; // too small to be better or worse
  const change = [difference, relativeText(relative)].filter(Boolean).join(', ');
  return verdict ? `${change} ${verdict}` : change;
}

/** '+12 %' of a relative change; '' without meaning, or if it rounds to 0. */
export function relativeText(relative) {
  const share = Math.abs(relative ?? 0) * 100;
  if (share < 0.05) return '';
  if (share > 9999) return 'more than 100 times';
  // −100 % would mean that nothing is left
  if (relative < 0 && share > 99.5 && share < 100) return `−${number(Math.min(share, 99.9), 1)} %`;
  return `${relative > 0 ? '+' : '−'}${number(share, share < 10 ? 1 : 0)} %`;
}

const COMPARED =
  'Its state, start, finish, preemptions and the servers of its workers are compared, ' +
  'not how many workers it has nor where its parameter servers are.';

/**
 * Counts of all jobs that have arrived in run `base` or `other`: equal, different, or in only one of the two.
 */
export function accountText({ at_ms: atMs, accounts }, base, other) {
  const { total, equal, differ, only_base: mine, only_other: theirs, not_in_all: rest } = accounts;
  const parts = [
    [equal, 'equal'],
    [differ, 'different'],
    [mine, `only in run ${base}`],
    [theirs, `only in run ${other}`],
  ];
  if (rest) parts.push([rest, 'missing in at least one other run and therefore not compared']);
  const by = atMs === null ? '' : ` by ${clock(atMs)}`;
  const shares = parts.map(([count, text]) => `${number(count, 0)} ${text}`).join(', ');
  return `${plural(total, 'job')} arrived${by}: ${shares}. A job can differ in several ways. ${COMPARED}`;
}

/**
 * Sentence on a cut that begins after the time up to which the runs are compared; '' without one.
 *
 * @param {{id: number, from_ms: number}[]} runs that are compared
 * @param {number | null} atMs that time; null = the end
 */
export function lateText(runs, atMs) {
  const late = atMs === null ? undefined : runs.find(({ from_ms: fromMs }) => fromMs > atMs);
  if (!late) return '';
  return (
    `Run ${late.id} begins at ${clock(late.from_ms)}. The runs are compared up to ${clock(atMs)}, so there is ` +
    'nothing to compare yet.'
  );
}

/**
 * Title and sentence where no job differs: the runs may have no job in common, or only some of their jobs.
 *
 * @param {Record<string, number>} accounts
 * @param {{late: string, sameTrace: boolean}} about late: of lateText
 * @returns {[string, string]}
 */
export function nothingText({ equal, only_base: mine, only_other: theirs }, { late, sameTrace }) {
  if (late) return ['Not started', late];
  if (!mine && !theirs) return ['No differences', `All arrived jobs are treated alike in both runs. ${COMPARED}`];
  return equal
    ? ['No differences', 'The jobs that have arrived in both runs are treated alike.']
    : [
        'No common jobs',
        'No job has arrived in both runs, so none is compared.' +
          (sameTrace ? '' : ' Jobs of different traces are different jobs, even if their ids are the same.'),
      ];
}

/**
 * Help text of a kind of difference, with names for its placeholders {baseline} and {other}.
 *
 * @param {string} text
 * @param {string} baseline
 * @param {string} other
 */
export function kindText(text, baseline, other) {
  return text.replace('{baseline}', baseline).replace('{other}', other);
}

/** The kind whose colour a job gets; null for none. */
export function leading(mask, bits) {
  return WEIGHT.find((kind) => mask & bits[kind]) ?? null;
}

/**
 * Masks of the jobs of a run: {base: Uint8Array, other: Uint8Array}, from the columns of GET /api/compare/kinds/.
 */
export function masks(columns, base, other) {
  const shares = columns[`run_${other}`];
  const [mine, yours] = [columns[`shared_${base}`], columns[`shared_${other}`]];
  const of = new Uint8Array(columns[`run_${base}`].length).fill(NOT_COMPARED);
  for (let i = 0; i < yours.length; i++) of[mine[i]] = shares[yours[i]]; // no job is shared with a run of another trace
  return { base: of, other: shares };
}

/** Left and width in per cent of [start, end] within [from, to]; null without both ends. */
export function place(start, end, [from, to]) {
  if (start === null || end === null || to <= from) return null;
  const share = (ms) => (100 * (Math.min(Math.max(ms, from), to) - from)) / (to - from);
  return [share(start), Math.max(0.6, share(end) - share(start))];
}
