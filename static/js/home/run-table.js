// Runs as a table: a row per run with its newest metrics.

import { inCharge } from '../core/phases.js';
import { untilText } from '../run/metrics/metrics-panel.js';
import { h } from '../ui/dom.js';
import { statusMark } from '../ui/labels/state-mark.js';
import { number, wall } from '../util/format.js';
import { runTime } from '../util/wall-clock.js';
import { teamChip } from '../settings/team-chip.js';
import { modeText } from '../util/run-modes.js';

/**
 * The columns. metrics: the table of metrics; tick(run): the box that chooses a run; live(run): the newest metrics
 * of an active run; moment(run): those, or of an ended run that stored none.
 */
export function runColumns({ metrics, tick, live, moment, isPartial }) {
  const ended = (key, of) => ({
    title: metrics.get(key).title,
    hint: metrics.get(key).definition,
    number: true,
    cell: (run) => number(run.metrics?.[key] ?? of(moment(run))),
  });
  return [
    { title: '', cell: tick },
    {
      title: 'Run',
      value: (run) => run.id,
      cell: (run) => [h('a', { href: `/runs/${run.id}/` }, `${run.id} · ${run.scenario_name}`), teamChip(run)],
    },
    { title: 'State', value: (run) => run.status, cell: (run) => stateCell(run, isPartial(run)) },
    { title: 'Scheduler', cell: (run) => inCharge(run.schedulers, run.began_at) },
    { title: 'Mode', value: (run) => modeText(run.mode), cell: (run) => modeText(run.mode) },
    {
      title: 'Simulated time',
      value: (run) => run.sim_ms,
      number: true,
      cell: (run) => runTime(live(run)?.sim_ms ?? run.sim_ms, run.began_at),
    },
    { title: 'Jobs', value: (run) => run.job_count, number: true, cell: (run) => number(run.job_count, 0) },
    { title: 'Running', number: true, cell: (run) => number(busy(live(run)?.jobs)) },
    ended('completed', (now) => now?.jobs.completed),
    ended('rejected', (now) => now?.jobs.rejected),
    ended('total_utility', (now) => now?.utility),
    {
      title: 'Started',
      value: (run) => run.created_at,
      cell: (run) => h('span', { class: 'nowrap muted' }, wall(run.created_at)),
    },
  ];
}

/** The state, up to which time the metrics of a cancelled or failed run are, and what a run waits for. */
function stateCell(run, partial) {
  const note = (text) => h('div', { class: 'muted small' }, text);
  return [
    statusMark(run),
    partial ? note(`metrics ${untilText(run)}`) : null,
    run.activity ? note(run.activity.text) : null,
  ];
}

/** Jobs that hold machines: running ones, and those whose group is profiled or moved. */
const busy = (jobs) => jobs && jobs.running + (jobs.profiling ?? 0) + (jobs.moving ?? 0);
