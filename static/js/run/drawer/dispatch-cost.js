// Cost of a dispatch by Eq. (5) of A_online, in its four terms, and the jobs that it displaced.

import { h } from '../../ui/dom.js';
import { duration, number } from '../../util/format.js';
import { table } from '../../ui/data-table.js';

const TERMS = [
  ['upload_ms', 'Upload'],
  ['waiting_ms', 'Wait for earlier chunks'],
  ['processing_ms', 'Processing'],
  ['postponed_ms', 'Delay of later chunks'],
];
const MAX_NAMED = 40; // jobs listed by name

/**
 * Elements below the sentence of a decision; none if it has no such cost. onPick(job) opens the drawer of another
 * job.
 */
export function terms({ kind, values }, ids, onPick) {
  if (!values || !('postponed_ms' in values)) return [];
  const most = Math.max(...TERMS.map(([name]) => values[name]));
  const rows = table(
    [
      { title: 'Dispatch cost Q (A_online, Eq. 5)', cell: ([, title]) => title },
      { title: 'Time', number: true, cell: ([name]) => duration(values[name]) },
      {
        title: '',
        cell: ([name]) =>
          name !== 'cost_ms' &&
          h('span', { class: 'meter' }, h('i', { css: { width: `${most ? (values[name] / most) * 100 : 0}%` } })),
      },
    ],
    [...TERMS, ['cost_ms', 'Total']],
  );
  const who = (job) =>
    h('button', { type: 'button', class: 'quiet', onclick: () => onPick(job) }, ids[job] ?? `job ${job}`);
  const others = values.displaced ?? [];
  const named =
    kind === 'preempted'
      ? ['By job ', who(values.by)]
      : others.length
        ? [
            'Displaces ',
            others.slice(0, MAX_NAMED).map(who),
            others.length > MAX_NAMED ? ` and ${number(others.length - MAX_NAMED, 0)} more` : null,
          ]
        : null;
  return [h('div', { class: 'terms' }, rows, named ? h('p', {}, named) : null)];
}
