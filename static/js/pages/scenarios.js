// Scenarios: templates, the form of a new run, and the list.

import { get, post, remove } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { MODES } from '../util/run-modes.js';
import { confirmed } from '../ui/confirm.js';
import { $, fill, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { plural, wall } from '../util/format.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { inCharge } from '../core/phases.js';
import { newRun } from '../new-run/new-run.js';
import { startTemplates } from '../scenarios/templates.js';
import { teamChip } from '../settings/team-chip.js';

const ABOUT = 'A scenario is a trace, a cluster and a scheduler; it can be edited and run again.';
const operator = document.body.dataset.role === 'operator';
const columns = [
  {
    title: 'Scenario',
    value: (s) => s.name,
    cell: (s) => [
      h('a', { href: `/scenarios/${s.id}/` }, s.name),
      teamChip(s),
      s.edits.length ? h('div', { class: 'muted small' }, plural(s.edits.length, 'edit')) : null,
    ],
  },
  {
    title: 'Cluster',
    value: (s) => s.cluster_name,
    cell: (s) => `${s.cluster_name} (${plural(s.server_count, 'server')})`,
  },
  {
    title: 'Trace',
    value: (s) => s.trace_name,
    cell: (s) => h('a', { href: `/traces/${s.trace}/` }, `${s.trace_name} (${plural(s.job_count, 'job')})`),
  },
  {
    title: 'Scheduler',
    value: (s) => s.scheduler,
    cell: (s) => [
      inCharge(s.schedulers),
      s.parameter_texts.length ? h('div', { class: 'muted small' }, s.parameter_texts.join(', ')) : null,
    ],
  },
  { title: 'Seed', value: (s) => s.seed, number: true, cell: (s) => String(s.seed) },
  {
    title: 'Created',
    value: (s) => s.created_at,
    cell: (s) => h('span', { class: 'muted nowrap' }, wall(s.created_at)),
  },
  {
    title: '',
    cell: (s) =>
      operator
        ? h(
            'span',
            { class: 'nowrap' },
            h('button', { type: 'button', onclick: ({ currentTarget }) => again(s, 'batch', currentTarget) }, 'Run'),
            ' ',
            h(
              'button',
              { type: 'button', class: 'quiet', onclick: ({ currentTarget }) => again(s, 'live', currentTarget) },
              'Run live',
            ),
            ' ',
            h(
              'a',
              {
                class: 'button quiet',
                href: `/scenarios/${s.id}/`,
                title: 'Edit the cluster, the jobs or the scheduler',
              },
              'What-if',
            ),
            ' ',
            h(
              'button',
              {
                type: 'button',
                class: 'quiet',
                title: 'Start one run for each scheduler that supports this cluster and trace, and compare them',
                onclick: (event) => raceThem(s, event.currentTarget),
              },
              'Race schedulers',
            ),
            ' ',
            h('button', { type: 'button', class: 'quiet danger', onclick: () => leave(s) }, 'Delete'),
          )
        : '',
  },
];

const scenarioTable = new DataTable($('#list'), { name: 'scenarios', columns });

async function again(scenario, mode, button) {
  button.disabled = true; // a second click would start a second run
  try {
    const speed = MODES[mode].paced && { speed: 3600 };
    const run = await post('/api/runs/', { scenario: scenario.id, mode, ...speed });
    location.assign(`/runs/${run.id}/`);
  } catch (error) {
    button.disabled = false;
    logError(error);
    sayAbove(error);
  }
}

async function raceThem(scenario, button) {
  button.disabled = true;
  button.textContent = 'Starting …';
  const race = await post(`/api/scenarios/${scenario.id}/race/`).catch((error) => {
    button.disabled = false;
    button.textContent = 'Race schedulers';
    sayAbove(error);
  });
  if (race) location.assign(race.compare);
}

async function leave(scenario) {
  if (!(await confirmed(`Delete scenario ${scenario.name}?`, 'Delete'))) return;
  try {
    await remove(`/api/scenarios/${scenario.id}/`);
    $('#list-error')?.remove();
    await list();
  } catch (error) {
    logError(error);
    sayAbove(error);
    if (error.status === 404) await list().catch(failList); // somebody else has deleted it
  }
}

function sayAbove(error) {
  const box = $('#list-error') ?? h('p', { class: 'error', id: 'list-error', role: 'alert' });
  box.textContent = error.message;
  $('#list').before(box);
}

async function list() {
  const page = await get('/api/scenarios/?size=100');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'scenario' : 'scenarios');
  scenarioTable.paint(page.results, {
    none: operator
      ? empty('No scenarios yet', ABOUT, ['Start from a template', '#templates-title'])
      : empty('No scenarios yet', `${ABOUT} Operators create them.`, ['Show the overview', '/']),
  });
}

function failList(error) {
  logError(error);
  fill($('#list'), h('p', { class: 'error', role: 'alert' }, error.message));
}

startTemplates();
new PagePart('list of scenarios').first($('#list'), list).catch(failList);
if (operator) newRun().catch((error) => fill($('#new'), h('p', { class: 'error' }, error.message)));
