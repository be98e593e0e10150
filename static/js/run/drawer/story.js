// The story of a job in words: what it requested, where it ran, how it ended.

import { OPEN, SUSPENDED, WORKER } from '../../core/columns/bars.js';
import { joined } from '../../util/interval-sums.js';
import { wallOf, wallText } from '../../util/wall-clock.js';
import { h, wholeDates } from '../../ui/dom.js';
import { amount, capital, duration, epoch, exactClock, number, plural } from '../../util/format.js';

const AMOUNTS = [
  ['gpu', 'GPU'],
  ['cpu', 'vCPU'],
  ['memory', 'GB memory'],
  ['storage', 'GB storage'],
  ['bandwidth', 'Gbps'],
];
const MAX_SERVERS = 3; // named in a sentence
const HOLDING = [WORKER, SUSPENDED]; // roles of bars in which a job has a place
const isNumber = Number.isFinite;

/**
 * A moment: by the clock of the run, relative to the arrival of the job, and by the wall clock if the run has one that
 * differs.
 *
 * @param {number} ms
 * @param {number | null | undefined} arrived
 * @param {any} runClock {sim_ms, wall_ms, speed} or null
 */
export function moment(ms, arrived, runClock) {
  const wall = wallOf(runClock, ms);
  const after = isNumber(arrived) && ms !== arrived ? sinceText(ms - Number(arrived)) : '';
  const known = epoch() !== null && wall !== null && !new Date(wall).getTimezoneOffset(); // it is in UTC already
  const words = [after, wall === null || known ? '' : wallText(wall)].filter(Boolean).join('; ');
  return h('time', {}, exactClock(ms), words ? h('span', { class: 'muted' }, wholeDates(` (${words})`)) : null);
}

const sinceText = (/** @type {number} */ ms) =>
  ms > 0 ? `${duration(ms)} after arrival` : `${duration(-ms)} before arrival`;

/**
 * Request of the job: 'Requests 4 workers of 1 GPU and 4 vCPU each; model resnet50; queue vc1.'; '' if its fields do
 * not say.
 *
 * @param {{name: string, value: any}[]} fields
 * @param {string[]} [unused] names of those that do not matter to the scheduler
 */
export function askedText(fields, unused = []) {
  const used = fields.filter(({ name }) => !unused.includes(name));
  const of = Object.fromEntries(used.map(({ name, value }) => [name, value]));
  const each = of.worker && amountsText(of.worker);
  const count = of.requested_workers;
  const typed = of.worker_type === undefined || of.worker_type === null ? '' : `type ${of.worker_type}`;
  const ofEach = each ? ` of ${each}${count === 1 ? '' : ' each'}` : typed && ` of ${typed}`;
  const requested = isNumber(count) ? `${plural(count, 'worker')}${ofEach}` : ofEach && `workers${ofEach}`;
  const rest = [
    of.model && `model ${of.model}`,
    of.group && `queue ${of.group}`,
    of.user && `user ${of.user}`,
    isNumber(of.limit_ms) && `time limit ${duration(of.limit_ms)}`,
  ];
  const text = [requested && `requests ${requested}`, ...rest].filter(Boolean).join('; ');
  return text && `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** @param {Record<string, number>} demand */
function amountsText(demand) {
  const amounts = AMOUNTS.filter(([name]) => demand[name] > 0).map(([name, unit]) => `${number(demand[name])} ${unit}`);
  return amounts.length > 1 ? `${amounts.slice(0, -1).join(', ')} and ${amounts.at(-1)}` : (amounts[0] ?? '');
}

/**
 * Place and time where a job ran: {servers, begin, end, workers: the most at a time, pauses: times in which it held
 * nothing} of its bars that had begun at p; null if none had. fields: the names of the columns of a bar.
 *
 * @param {number[][]} bars
 * @param {string[]} fields
 * @param {number} p
 */
export function whereItRan(bars, fields, p) {
  const at = Object.fromEntries(fields.map((name, place) => [name, place]));
  const begun = bars
    .filter((bar) => HOLDING.includes(bar[at.role]) && bar[at.died_ms] < 0 && bar[at.start_ms] <= p)
    .sort((a, b) => a[at.start_ms] - b[at.start_ms]);
  if (!begun.length) return null;
  const spans = joined(begun.map((bar) => [bar[at.start_ms], bar[at.end_ms]]));
  const [, until] = spans[spans.length - 1];
  const working = begun.filter((bar) => bar[at.role] === WORKER);
  const together = working.map((bar) => workersAt(working, at, bar[at.start_ms]));
  const servers = [...new Set(begun.map((bar) => bar[at.server]))].sort((a, b) => a - b);
  return {
    servers,
    begin: begun[0][at.start_ms],
    end: until < OPEN && until <= p ? until : null,
    workers: Math.max(0, ...together),
    pauses: spans.length - 1,
  };
}

/**
 * @param {number[][]} bars
 * @param {Record<string, number>} at
 * @param {number} t
 */
const workersAt = (bars, at, t) =>
  bars.reduce((sum, bar) => sum + (bar[at.start_ms] <= t && bar[at.end_ms] > t ? bar[at.count] : 0), 0);

/**
 * 'On p01, p02 and 3 more servers, at most 4 workers at a time, requeued twice.'
 *
 * @param {{servers: number[], workers: number}} found
 * @param {(server: number) => string} nameOf
 * @param {Record<string, number>} [stops] how often it stopped, by the word for it
 */
export function ranText({ servers, workers }, nameOf, stops = {}) {
  const names = servers.slice(0, MAX_SERVERS).map(nameOf);
  const more = servers.length - names.length;
  const last = more ? `${number(more, 0)} more` : names.length > 1 ? names.pop() : '';
  const list = last ? `${names.join(', ')} and ${last}` : names.join(', ');
  const stopped = Object.entries(stops).map(([word, count]) => (count ? `, ${word} ${timesText(count)}` : ''));
  return `On ${list}, at most ${plural(workers, 'worker')} at a time${stopped.join('')}.`;
}

const timesText = (/** @type {number} */ count) => ['', 'once', 'twice'][count] ?? `${number(count, 0)} times`;

/**
 * Reason why there is nothing to show of where a job ran.
 *
 * @param {{state: string}} story
 */
export function notRunText({ state }) {
  if (state === null) return 'Its cluster had not been observed yet.';
  return ['completed', 'rejected', 'unfinished'].includes(state) ? 'It did not run.' : 'It has not run yet.';
}

/**
 * True if the job has neither ended nor a planned finish.
 *
 * @param {any} story from the API
 */
export const isOpen = ({ state, completed_ms: completed, finish_ms: planned }) =>
  !isNumber(completed) && !isNumber(planned) && state !== 'rejected' && state !== 'unfinished';

/**
 * End of the job, past or planned: [title, sentence, ms or null].
 *
 * @param {any} story from the API
 * @param {string} [word] for a job that has ended: a real cluster ends jobs in several ways
 * @returns {[string, string, number | null]}
 */
export function endOf(story, word = 'completed') {
  const { state, completed_ms: completed, finish_ms: planned, jct_ms: jct, utility, decisions } = story;
  if (isNumber(completed)) {
    const earned = isNumber(utility) && utility > 0 ? ` It earned a utility of ${amount(utility)}.` : '';
    return [capital(word), `Completion time (JCT) ${duration(jct)}.${earned}`, completed];
  }
  if (state === 'rejected') {
    const ms = (decisions ?? []).findLast((/** @type {any} */ { kind }) => kind === 'rejected')?.at_ms ?? null;
    return ['Rejected', 'It will not run.', ms];
  }
  if (state === 'unfinished') return ['Unfinished', 'It was not completed when the run ended.', null];
  if (isNumber(planned)) return ['Planned finish', 'As planned at the time shown.', planned];
  return ['Not ended', 'No finish is planned yet.', null];
}
