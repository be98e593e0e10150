// Scenarios: the form of a new run, generated from the declaration of the scheduler, and the list.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { number, plural, wall } from '../util/format.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { inCharge } from '../models/phases.js';
import { choices, reasons } from '../scenarios/scheduler-choices.js';
import { url } from '../core/time-range.js';
import { startTemplates } from '../scenarios/templates.js';
import { ownCluster } from '../scenarios/own-cluster.js';
import { FitCheck } from '../scenarios/fit-check.js';
import { Warnings, suitability } from '../scenarios/suitability.js';
import { wholeNumber } from '../ui/fields/form-field.js';
import { parameterField, readParameters } from '../ui/fields/parameter-field.js';

const operator = document.body.dataset.role === 'operator';
const SPEEDS = [
  [60, '1 min/s'],
  [600, '10 min/s'],
  [1800, '30 min/s'],
  [3600, '1 h/s'],
  [21600, '6 h/s'],
  [86400, '1 d/s'],
];
const GENERATED = 'generate';
const CHECK_MS = 150;

const columns = [
  {
    title: 'Scenario',
    value: (s) => s.name,
    cell: (s) => [
      h('a', { href: `/scenarios/${s.id}/` }, s.name),
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
      Object.keys(s.parameters).length
        ? h(
            'div',
            { class: 'muted small' },
            Object.entries(s.parameters)
              .map(([k, v]) => `${k} = ${v}`)
              .join(', '),
          )
        : null,
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
            h('button', { type: 'button', onclick: () => again(s, 'batch') }, 'Run'),
            ' ',
            h('button', { type: 'button', class: 'quiet', onclick: () => again(s, 'live') }, 'Run live'),
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
          )
        : '',
  },
];

const scenarioTable = new DataTable($('#list'), { name: 'scenarios', columns });

async function again(scenario, mode) {
  const run = await post('/api/runs/', { scenario: scenario.id, mode, speed: 3600 }).catch(failList);
  if (run) location.assign(`/runs/${run.id}/`);
}

async function raceThem(scenario, button) {
  button.disabled = true;
  button.textContent = 'Starting …';
  const race = await post(`/api/scenarios/${scenario.id}/race/`).catch((error) => {
    button.disabled = false;
    button.textContent = 'Race schedulers';
    raceError(error);
  });
  if (race) location.assign(race.compare);
}

function raceError(error) {
  const box = $('#race-error') ?? h('p', { class: 'error', id: 'race-error', role: 'alert' });
  box.textContent = error.message;
  $('#list').before(box);
}

async function list() {
  const page = await get('/api/scenarios/?size=100');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'scenario' : 'scenarios');
  scenarioTable.paint(page.results, {
    none: empty(
      'No scenarios yet',
      operator ? 'Start a run above; its scenario is saved here.' : 'Only operators can create scenarios.',
    ),
  });
}

async function form() {
  const [schedulers, traces, clusters] = await Promise.all([
    get('/api/schedulers/'),
    get('/api/traces/?size=500'),
    get('/api/clusters/?size=500'),
  ]);
  const ready = traces.results.filter((trace) => trace.status === 'ready' && trace.job_count > 0);
  const box = $('#new');
  if (!ready.length)
    return fill(
      box,
      h(
        'div',
        { class: 'wide' },
        empty('No traces with jobs yet', h('a', { href: '/traces/' }, 'Upload a trace first')),
      ),
    );
  const option = (value, text, chosen) => h('option', { value, selected: chosen }, text);
  const wantedTrace = Number(url.get('trace'));
  const trace = h(
    'select',
    { id: 'f-trace', name: 'trace' },
    ready.map((t) => option(t.id, `${t.name} (${plural(t.job_count, 'job')})`, t.id === wantedTrace)),
  );
  const cluster = h(
    'select',
    { id: 'f-cluster', name: 'cluster' },
    clusters.results.map((c) =>
      option(c.id, `${c.name} (${plural(c.server_count, 'server')})${c.source ? `, ${c.source}` : ''}`),
    ),
    option(GENERATED, 'Generate a cluster as in the OASiS paper'),
  );
  cluster.prepend(h('option', { value: '', hidden: true }, 'Choose a cluster'));
  cluster.required = true;
  const belongs = h('span', { class: 'help', id: 'f-cluster-help' });
  const warnings = new Warnings();
  const fit = new FitCheck((name) => {
    scheduler.value = name;
    sync();
  });
  let proposed = 0;
  /** Selects the cluster of the trace, or else the newest one on which its jobs fit; none if there is none. */
  const propose = async () => {
    const mine = ++proposed;
    const own = ownCluster(clusters.results, Number(trace.value));
    if (own) {
      cluster.value = String(own.id);
      return;
    }
    const choices = { trace: trace.value, scheduler: scheduler.value, parameters: readParameters(parameters) };
    const answer = await suitability(choices).catch((error) => logError(error));
    if (mine !== proposed) return;
    cluster.value = String(answer?.cluster ?? '');
    sync();
  };
  const offered = choices(schedulers, 'oasis').map(({ text, ...rest }) => h('option', rest, text));
  const scheduler = h('select', { id: 'f-scheduler', name: 'scheduler' }, offered);
  const about = h('div', { class: 'help' });
  const parameters = h('div', { class: 'form wide', id: 'parameters' });
  const summary = h('summary', {}, 'Scheduler parameters');
  const advanced = h('details', { class: 'wide', id: 'advanced' }, summary, parameters);
  advanced.addEventListener('invalid', () => (advanced.open = true), true); // a hidden field cannot be corrected
  const servers = field(
    'Servers to generate',
    h('input', { id: 'f-servers', type: 'number', min: 2, max: 20000, value: 60 }),
    'Half edge, half cloud',
  );
  const slot = field(
    'Slot length, min',
    h('input', { id: 'f-slot', type: 'number', min: 0.001, step: 'any', placeholder: "the cluster's own" }),
    'Duration of a slot of slotted schedulers',
  );
  const horizon = field(
    'Horizon, slots',
    h('input', { id: 'f-horizon', type: 'number', min: 1, placeholder: "the cluster's own" }),
    'Slotted schedulers that plan ahead reject jobs that cannot finish by then',
  );
  const speed = field(
    'Speed',
    h(
      'select',
      { id: 'f-speed' },
      SPEEDS.map(([value, text]) => option(value, text, value === 3600)),
    ),
    'Simulated time per second',
  );
  const mode = h(
    'select',
    { id: 'f-mode', name: 'mode' },
    option('batch', 'batch: as fast as possible'),
    option('live', 'live: paced by a clock'),
  );
  const name = h('input', { id: 'f-name', maxlength: 200, placeholder: 'named after trace and scheduler' });
  const seed = h('input', { id: 'f-seed', type: 'number', min: 0, value: 0 });
  const errorBox = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const sync = () => {
    const chosen = schedulers.find((s) => s.name === scheduler.value);
    fill(
      about,
      `${chosen.summary} (${chosen.paper})`,
      reasons(schedulers).map((line) => h('div', {}, line)),
    );
    if (parameters.dataset.of !== chosen.name) {
      parameters.dataset.of = chosen.name;
      fill(parameters, chosen.parameters.map(parameterField));
      advanced.hidden = !chosen.parameters.length;
      fill(summary, `Parameters of ${chosen.title} (${number(chosen.parameters.length, 0)}, with defaults)`);
    }
    const own = clusters.results.find((c) => String(c.id) === cluster.value);
    $('#f-slot', slot).placeholder = own ? `the cluster's own: ${number(own.slot_ms / 60_000)} min` : '60 min';
    $('#f-horizon', horizon).placeholder = own
      ? own.horizon_slots
        ? `the cluster's own: ${plural(own.horizon_slots, 'slot')}`
        : 'empty: no end, or after the last arrival'
      : '100 slots';
    const came = own?.trace === Number(trace.value);
    fill(
      belongs,
      came
        ? 'Cluster of this trace'
        : cluster.value
          ? 'Not the cluster of this trace'
          : 'The jobs fit on none of the newest clusters; choose one, or generate one.',
    );
    servers.hidden = cluster.value !== GENERATED;
    speed.hidden = mode.value !== 'live';
    checkSoon();
  };
  const checkSoon = debounce(() => {
    if (cluster.value) return check();
    warnings.clear();
    return fit.show(null);
  }, CHECK_MS);
  const check = async () => {
    const choices = { trace: trace.value, cluster: cluster.value, scheduler: scheduler.value };
    const minutes = Number($('#f-slot', slot).value);
    const slots = minutes > 0 ? { slot_ms: String(Math.round(minutes * 60_000)) } : {};
    const answer = await warnings.check({ ...choices, ...slots, parameters: readParameters(parameters) });
    if (answer)
      fit.show(
        answer.fit,
        schedulers.find((s) => s.name === choices.scheduler),
        schedulers,
      );
    const own = answer?.own_horizon;
    if (own) $('#f-horizon', horizon).placeholder = `empty: ${plural(own, 'slot')}, from arrivals and durations`;
  };
  if (clusters.results.some((c) => c.id === Number(url.get('cluster')))) cluster.value = url.get('cluster');
  else propose();
  trace.addEventListener('change', propose);
  cluster.addEventListener('change', () => proposed++); // a choice by hand stays
  for (const box of [parameters, slot]) box.addEventListener('change', checkSoon);
  for (const select of [trace, scheduler, cluster, mode]) select.addEventListener('change', sync);
  fill(
    box,
    field('Trace', trace),
    field('Cluster', cluster, belongs),
    servers,
    field('Scheduler', scheduler, about),
    field('Seed', seed, 'Runs with equal seeds have equal logs, byte for byte'),
    slot,
    horizon,
    advanced,
    field('Name', name),
    field('Mode', mode),
    speed,
    warnings.box,
    fit.box,
    h('div', { class: 'wide' }, h('button', { class: 'primary', id: 'start-run' }, 'Start run')),
    errorBox,
  );
  box.addEventListener('submit', (event) => {
    event.preventDefault();
    start(errorBox, { trace, cluster, scheduler, parameters, name, seed, mode }).catch((error) => {
      errorBox.hidden = false;
      fill(errorBox, error.message);
      $('#start-run').disabled = false;
    });
  });
  sync();
}

async function start(errorBox, f) {
  errorBox.hidden = true;
  $('#start-run').disabled = true;
  const seed = wholeNumber(f.seed, 'Seed') ?? 0;
  const horizon_slots = wholeNumber($('#f-horizon'), 'Horizon', 1);
  let cluster = f.cluster.value;
  if (cluster === GENERATED) {
    cluster = (
      await post('/api/clusters/', {
        profile: 'oasis',
        servers: wholeNumber($('#f-servers'), 'Servers', 2),
        seed,
        horizon_slots: horizon_slots ?? 100,
      })
    ).id;
  }
  const slot = $('#f-slot').value === '' ? undefined : Number($('#f-slot').value);
  const chosen = f.trace.selectedOptions[0].textContent.replace(/ \(.*/, '');
  const scenario = await post('/api/scenarios/', {
    name: f.name.value || `${chosen}, ${f.scheduler.selectedOptions[0].textContent}`,
    cluster: Number(cluster),
    trace: Number(f.trace.value),
    scheduler: f.scheduler.value,
    parameters: readParameters(f.parameters),
    seed,
    slot_ms: slot === undefined ? undefined : Math.round(slot * 60_000),
    horizon_slots,
  });
  const live = f.mode.value === 'live';
  const run = await post('/api/runs/', {
    scenario: scenario.id,
    mode: f.mode.value,
    ...(live ? { speed: Number($('#f-speed').value) } : {}),
  });
  location.assign(`/runs/${run.id}/`);
}

function field(title, control, help) {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, title),
    control,
    help ? (help instanceof Node ? help : h('span', { class: 'help' }, help)) : null,
  );
}

function failList(error) {
  logError(error);
  fill($('#list'), h('p', { class: 'error', role: 'alert' }, error.message));
}

startTemplates();
list().catch(failList);
if (operator) form().catch((error) => fill($('#new'), h('p', { class: 'error' }, error.message)));
