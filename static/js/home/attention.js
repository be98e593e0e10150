// Points of attention of a situation as sentences; dashboard/readmodels/attention.py has their codes.

import { h } from '../ui/dom.js';
import { duration, number, plural } from '../util/format.js';

/** @type {Record<string, (values: any) => string>} */
const SENTENCES = {
  away: ({ servers, names }) =>
    `${plural(servers, 'server')} unavailable: ${names.join(', ')}${servers > names.length ? ' …' : ''}`,
  queue_grows: ({ before, now, ago_ms: ago }) =>
    `The queue grows: ${plural(before, 'job')} waited ${duration(ago)} ago, now ${number(now, 0)}`,
  suspended: ({ jobs }) => `${plural(jobs, 'job')} suspended`,
  rejected: ({ jobs, reasons, window_ms: window }) =>
    `${plural(jobs, 'job')} rejected in the last ${duration(window)}: ${reasons.map(reasonText).join(', ')}`,
};

/** Short forms of codes of reasons, behind one number of jobs or many; others are shown as they are. */
const REASONS = {
  payoff_not_positive: 'with a cost above the utility',
  reward_too_low: 'with a cost above the utility',
  fits_nowhere: 'too large for every server',
  gang_fits_nowhere: 'too large for every server',
  gang_too_large: 'with too many workers for the cluster',
  no_capacity: 'without free capacity',
  too_late: 'too late for the horizon',
};

const reasonText = ({ code, jobs }) => `${number(jobs, 0)} ${REASONS[code] ?? code.replaceAll('_', ' ')}`;

/** A point as a sentence; its code where there is none. */
export const attentionText = ({ code, values }) => (SENTENCES[code] ? SENTENCES[code](values) : code);

/** The points as list items; one that says so where there is none. */
export function attentionItems(points) {
  if (!points.length) return [h('li', { class: 'fine' }, 'Nothing needs attention')];
  return points.map((point) => h('li', { class: point.level, 'data-code': point.code }, attentionText(point)));
}
