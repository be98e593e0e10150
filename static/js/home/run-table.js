// Runs as a table: a row per run with its newest figures.

import { inCharge } from '../models/phases.js';
import { modeText } from '../models/titles.js';
import { untilText } from '../run/figures/metrics-panel.js';
import { h } from '../ui/dom.js';
import { clock, number, wall } from '../util/format.js';
import { teamChip } from '../settings/team-chip.js';

/**
 * The columns. metrics: the table of metrics; tick(run): the box that chooses a run; figures(run): the metrics of an
 * active run; moment(run): those, or of an ended run that stored none.
 */
export function runColumns({ metrics, tick, figures, moment, isPartial }) {
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
    { title: 'Scheduler', cell: (run) => inCharge(run.schedulers) },
    { title: 'Mode', value: (run) => modeText(run.mode), cell: (run) => modeText(run.mode) },
    {
      title: 'Simulated time',
      value: (run) => run.sim_ms,
      number: true,
      cell: (run) => clock(figures(run)?.sim_ms ?? run.sim_ms),
    },
    { title: 'Jobs', value: (run) => run.job_count, number: true, cell: (run) => number(run.job_count, 0) },
    { title: 'Running', number: true, cell: (run) => number(busy(figures(run)?.jobs)) },
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
    h('span', { class: 'state', 'data-state': run.status, title: run.message }, run.status),
    partial ? note(`metrics ${untilText(run)}`) : null,
    run.activity ? note(run.activity.text) : null,
  ];
}

/** Jobs that hold machines: running ones, and those whose group is profiled or moved. */
const busy = (jobs) => jobs && jobs.running + (jobs.profiling ?? 0) + (jobs.moving ?? 0);
