// Alerts in words: levels, endings, number of open ones, and the state of evaluation and webhook.

import { duration, number, plural, wall } from './format.js';

/**
 * @typedef {{
 *   receiver: string | null, signed: boolean, problem: string, waiting: number, given_up: number,
 *   delivered_at: string | null, next_at: string | null, error: string,
 * }} Webhook
 * @typedef {{
 *   open: Record<string, number>, evaluated_at: string | null, seconds: number | null, watched: number, left: number,
 *   webhook: Webhook,
 * }} Status as GET /api/alerts/status/ answers
 */

export const LEVELS = ['serious', 'notable'];
const MAX_SHOWN = 99;
const LATE_MS = 60_000; // evaluations are seconds apart

/** @type {Record<string, string>} */
const ENDINGS = { cleared: 'cleared', unwatched: 'no longer watched', off: 'rule switched off' };

/** @param {string} ending */
export const endingText = (ending) => ENDINGS[ending] ?? ending;

/** @type {Record<string, string>} */
const ABOUT = { cluster: 'live clusters', run: 'live runs', batch: 'batch runs' };

/**
 * 'live clusters and live runs'.
 *
 * @param {string[]} about
 * @param {'and' | 'or'} [joint]
 */
export const aboutText = (about, joint = 'and') => about.map((kind) => ABOUT[kind] ?? kind).join(` ${joint} `);

/**
 * Number of open alerts for the header: '', '3', '99+'.
 *
 * @param {Record<string, number>} [open] by level
 */
export function badgeText(open = {}) {
  const total = Object.values(open).reduce((sum, count) => sum + count, 0);
  return total > MAX_SHOWN ? `${MAX_SHOWN}+` : total ? String(total) : '';
}

/**
 * '2 targets checked 3 s ago'.
 *
 * @param {Status} status
 * @param {number} nowMs
 */
export function evaluationText({ evaluated_at: at, watched, left }, nowMs) {
  if (!at) return 'The rules have not been checked yet.';
  const ago = Math.max(0, nowMs - Date.parse(at));
  const skipped = left ? `, ${number(left, 0)} left for the next check` : '';
  const late = ago > LATE_MS ? 'Checks are late: ' : '';
  const seconds = Math.round(ago / 1000);
  const when = seconds ? `${duration(seconds * 1000)} ago` : 'just now';
  return `${late}${plural(watched, 'target')} checked ${when}${skipped}`;
}

/**
 * Lines about the webhook, the first one about its receiver; error: it needs an operator.
 *
 * @param {Webhook} webhook
 * @returns {{text: string, error?: boolean}[]}
 */
export function webhookLines(webhook) {
  const { receiver, signed, problem, waiting, given_up: lost, delivered_at: delivered, next_at: next, error } = webhook;
  if (problem) return [{ text: `${problem}.`, error: true }];
  if (!receiver) return [{ text: 'No webhook: alerts are shown here only. Its address is a setting of the server.' }];
  const last = delivered ? `, last notice delivered ${wall(delivered)}` : ', no notice delivered yet';
  /** @type {{text: string, error?: boolean}[]} */
  const lines = [{ text: `Notices are posted to ${receiver}, ${signed ? 'signed' : 'not signed'}${last}.` }];
  if (waiting && error)
    lines.push({
      text: `${plural(waiting, 'notice')} undelivered: ${error}. Next attempt ${wall(next)}.`,
      error: true,
    });
  else if (waiting) lines.push({ text: `${plural(waiting, 'notice')} waiting for delivery.` });
  if (lost)
    lines.push({
      text: `${plural(lost, 'notice')} dropped in the last 7 days, because delivery failed for a day.`,
      error: true,
    });
  return lines;
}
