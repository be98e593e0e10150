// Replay of a live cluster by the model of its own policy: metrics of the newest one beside what happened.

import { table } from '../../ui/data-table.js';
import { tile } from '../../ui/labels/tile.js';
import { h, wholeDates } from '../../ui/dom.js';
import { duration, fixed, number, percent, plural, wall } from '../../util/format.js';
import { runTime } from '../../util/wall-clock.js';

/** '+1.2 %': how much longer the simulated makespan is. */
export function differenceText(share) {
  if (share === null || share === undefined) return '–';
  const text = `${fixed(Math.abs(share) * 100, 1)} %`;
  return text === '0.0 %' ? 'none' : `${share < 0 ? '−' : '+'}${text}`;
}

/** Text of what is under way; empty for nothing. */
export function progressText(progress) {
  if (!progress) return '';
  if (progress.status === 'queued') return 'Waiting for a worker';
  return progress.cut ? 'Simulating the replayed window' : 'Preparing the replayed window';
}

/** Content of the section: the newest replay, and the ones before it. */
export function replaySection({ newest, before }) {
  if (!newest) {
    return [
      h(
        'p',
        { class: 'muted' },
        'No replay yet. By default the first hour of a new cluster is replayed, then each run when it has ended.',
      ),
    ];
  }
  return [
    h('p', {}, windowText(newest)),
    h('dl', { class: 'tiles fidelity' }, tiles(newest)),
    divergence(newest),
    h(
      'details',
      { class: 'small' },
      h('summary', {}, 'Assumptions'),
      h(
        'ul',
        { class: 'plain' },
        newest.sentences.map((text) => h('li', {}, text)),
      ),
    ),
    before.length ? h('div', { class: 'scroll' }, earlier(before)) : null,
  ];
}

function windowText({ from_ms: from, until_ms: until, began_at: beganAt, run, jobs, at }) {
  return [
    `From ${runTime(from, beganAt)} to ${runTime(until, beganAt)} of `,
    run ? h('a', { href: `/runs/${run}/` }, `run ${run}`) : 'a run that was deleted',
    wholeDates(`, ${plural(jobs, 'job')} that completed in both, computed ${wall(at)}.`),
  ];
}

function tiles(one) {
  const noted = (title, value, note) => tile(title, value, { more: h('dd', { class: 'muted small' }, note) });
  return [
    noted(
      'Difference of makespan',
      differenceText(one.makespan_error),
      `${duration(one.makespan_ms)} simulated, ${duration(one.makespan_real_ms)} real`,
    ),
    noted(
      `Starts within ${duration(one.within_ms)}`,
      percent(one.within),
      'of the actual start; the limit is the backfill interval of the cluster, or 30 s if the cluster reports none',
    ),
    one.in_step === null
      ? null
      : noted('Starts in step', percent(one.in_step), 'decided as on the cluster, given its real state at that time'),
    noted('Simulated mean wait', duration(one.wait_ms), `${duration(one.wait_real_ms)} real`),
    noted('Order of starts', one.order === null ? '–' : fixed(one.order, 2), "Kendall's τ; 1 is the same order"),
  ];
}

function divergence({ first, began_at: beganAt, run, replay, within_ms: within, jobs }) {
  const link = run && replay ? h('a', { href: `/compare/?runs=${run},${replay}` }, 'Compare the runs') : null;
  const text = first
    ? `First divergence: job ${first.job} starts at ${runTime(first.simulated_ms, beganAt)} in the simulation, ` +
      `and started at ${runTime(first.real_ms, beganAt)}. `
    : jobs
      ? `No start differs by more than ${duration(within)}. `
      : 'No job completed both on the cluster and in the replay, so no starts are compared. ';
  return h('p', {}, text, link);
}

function earlier(rows) {
  return table(
    [
      { title: 'Computed', cell: ({ at }) => wall(at) },
      { title: 'Replayed window', number: true, cell: (row) => duration(row.until_ms - row.from_ms) },
      { title: 'Jobs', number: true, cell: ({ jobs }) => number(jobs, 0) },
      { title: 'Difference of makespan', number: true, cell: (row) => differenceText(row.makespan_error) },
      { title: 'Simulated mean wait', number: true, cell: ({ wait_ms: ms }) => duration(ms) },
      { title: 'Real mean wait', number: true, cell: ({ wait_real_ms: ms }) => duration(ms) },
      { title: 'Starts within tolerance', number: true, cell: ({ within }) => percent(within) },
    ],
    rows,
  );
}
