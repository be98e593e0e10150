// Scenarios: the form of a new run, generated from the scheduler's own declaration, and the list.

import { get, post } from '../lib/api.js';
import { $, fill, h } from '../lib/dom.js';
import { number, wall } from '../lib/format.js';
import { empty, shown, table } from '../lib/list.js';
import { url } from '../lib/view.js';
import { parameterField, readParameters } from '../controls/parameters.js';

const operator = document.body.dataset.role === 'operator';
const SPEEDS = [[60, '1 min a second'], [600, '10 min a second'], [1800, '30 min a second'], [3600, '1 h a second'], [21600, '6 h a second'], [86400, '1 d a second']];
const GENERATED = 'generate';

const columns = [
  { title: 'Scenario', cell: (s) => [h('a', { href: `/scenarios/${s.id}/` }, s.name), s.edits.length ? h('div', { class: 'muted small' }, `${s.edits.length} ${s.edits.length === 1 ? 'edit' : 'edits'}`) : null] },
  { title: 'Cluster', cell: (s) => `${s.cluster_name} (${number(s.server_count, 0)} servers)` },
  { title: 'Trace', cell: (s) => h('a', { href: `/traces/${s.trace}/` }, `${s.trace_name} (${number(s.job_count, 0)} jobs)`) },
  { title: 'Scheduler', cell: (s) => [s.scheduler, Object.keys(s.parameters).length ? h('div', { class: 'muted small' }, Object.entries(s.parameters).map(([k, v]) => `${k} = ${v}`).join(', ')) : null] },
  { title: 'Seed', number: true, cell: (s) => String(s.seed) },
  { title: 'Created', cell: (s) => h('span', { class: 'muted nowrap' }, wall(s.created_at)) },
  { title: '', cell: (s) => (operator ? h('span', { class: 'nowrap' }, h('button', { type: 'button', onclick: () => again(s, 'batch') }, 'Run'), ' ', h('button', { type: 'button', class: 'quiet', onclick: () => again(s, 'live') }, 'Run live'), ' ',
    h('a', { class: 'button quiet', href: `/scenarios/${s.id}/`, title: 'Change cluster, jobs or scheduler, and see what would happen' }, 'What if'), ' ',
    h('button', { type: 'button', class: 'quiet', title: 'Every scheduler that can, on this cluster and trace, side by side; then the comparison', onclick: (event) => raceThem(s, event.currentTarget) }, 'Race them')) : '') },
];

async function again(scenario, mode) {
  const run = await post('/api/runs/', { scenario: scenario.id, mode, speed: 3600 }).catch(failList);
  if (run) location.assign(`/runs/${run.id}/`);
}

async function raceThem(scenario, button) {
  button.disabled = true;
  button.textContent = 'Starting …';
  const race = await post(`/api/scenarios/${scenario.id}/race/`).catch((error) => {
    button.disabled = false;
    button.textContent = 'Race them';
    raceError(error);
  });
  if (race) location.assign(race.compare);
}

function raceError(error) {
  const said = $('#race-error') ?? h('p', { class: 'error', id: 'race-error', role: 'alert' });
  said.textContent = error.message;
  $('#list').before(said);
}

async function list() {
  const page = await get('/api/scenarios/?size=100');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'scenario' : 'scenarios');
  fill($('#list'), page.results.length ? table(columns, page.results) : empty('No scenarios yet', operator ? 'Start a run above; its scenario is kept here.' : 'An operator can make one.'));
}

async function form() {
  const [schedulers, traces, clusters] = await Promise.all([get('/api/schedulers/'), get('/api/traces/?size=500'), get('/api/clusters/?size=500')]);
  const ready = traces.results.filter((trace) => trace.status === 'ready' && trace.job_count > 0);
  const box = $('#new');
  if (!ready.length) return fill(box, h('div', { class: 'wide' }, empty('No trace with jobs yet', h('a', { href: '/traces/' }, 'Upload one first'))));
  const option = (value, text, chosen) => h('option', { value, selected: chosen }, text);
  const wantedTrace = Number(url.get('trace'));
  const trace = h('select', { id: 'f-trace', name: 'trace' }, ready.map((t) => option(t.id, `${t.name} (${number(t.job_count, 0)} jobs)`, t.id === wantedTrace)));
  const cluster = h('select', { id: 'f-cluster', name: 'cluster' }, clusters.results.map((c) => option(c.id, `${c.name} (${number(c.server_count, 0)} servers)${c.source ? `, ${c.source}` : ''}`, c.id === Number(url.get('cluster')))), option(GENERATED, 'Generate one as in the OASiS paper'));
  const scheduler = h('select', { id: 'f-scheduler', name: 'scheduler' }, schedulers.map((s) => option(s.name, s.title, s.name === 'oasis')));
  const about = h('span', { class: 'help' });
  const parameters = h('div', { class: 'form wide', id: 'parameters' });
  const servers = field('Servers to generate', h('input', { id: 'f-servers', type: 'number', min: 2, max: 20000, value: 60 }), 'half edge, half cloud');
  const slot = field('Slot length, min', h('input', { id: 'f-slot', type: 'number', min: 0.001, step: 'any', placeholder: "the cluster's own" }), 'what one slot of a slot scheduler lasts');
  const horizon = field('Horizon, slots', h('input', { id: 'f-horizon', type: 'number', min: 1, placeholder: "the cluster's own" }), 'jobs that cannot finish by then are rejected by slot schedulers');
  const speed = field('Speed', h('select', { id: 'f-speed' }, SPEEDS.map(([value, text]) => option(value, text, value === 3600))), 'simulated time per second');
  const mode = h('select', { id: 'f-mode', name: 'mode' }, option('batch', 'batch: as fast as it computes'), option('live', "live: paced by the twin's clock"));
  const name = h('input', { id: 'f-name', maxlength: 200, placeholder: 'named after trace and scheduler' });
  const seed = h('input', { id: 'f-seed', type: 'number', min: 0, value: 0 });
  const said = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const sync = () => {
    const chosen = schedulers.find((s) => s.name === scheduler.value);
    fill(about, `${chosen.summary} (${chosen.paper})`);
    if (parameters.dataset.of !== chosen.name) {
      parameters.dataset.of = chosen.name;
      fill(parameters, chosen.parameters.map(parameterField));
      parameters.hidden = !chosen.parameters.length;
    }
    const own = clusters.results.find((c) => String(c.id) === cluster.value);
    $('#f-slot', slot).placeholder = own ? `the cluster's own: ${number(own.slot_ms / 60_000)} min` : '60 min';
    $('#f-horizon', horizon).placeholder = own ? (own.horizon_slots ? `the cluster's own: ${number(own.horizon_slots, 0)} slots` : 'none: behind the last arrival') : '100 slots';
    servers.hidden = cluster.value !== GENERATED;
    speed.hidden = mode.value !== 'live';
  };
  for (const select of [scheduler, cluster, mode]) select.addEventListener('change', sync);
  fill(box, field('Trace', trace), field('Cluster', cluster), servers, field('Scheduler', scheduler, about), field('Seed', seed, 'same seed, same log, byte for byte'), slot, horizon,
    parameters, field('Name', name), field('Mode', mode), speed, h('div', { class: 'wide' }, h('button', { class: 'primary', id: 'start-run' }, 'Start the run')), said);
  box.addEventListener('submit', (event) => {
    event.preventDefault();
    start(said, { trace, cluster, scheduler, parameters, name, seed, mode }).catch((error) => {
      said.hidden = false;
      fill(said, error.message);
      $('#start-run').disabled = false;
    });
  });
  sync();
}

async function start(said, f) {
  said.hidden = true;
  $('#start-run').disabled = true;
  const value = (id) => ($(id).value === '' ? undefined : Number($(id).value));
  let cluster = f.cluster.value;
  if (cluster === GENERATED) {
    cluster = (await post('/api/clusters/', { profile: 'oasis', servers: value('#f-servers'), seed: Number(f.seed.value), horizon_slots: value('#f-horizon') ?? 100 })).id;
  }
  const slot = value('#f-slot');
  const chosen = f.trace.selectedOptions[0].textContent.replace(/ \(.*/, '');
  const scenario = await post('/api/scenarios/', {
    name: f.name.value || `${chosen}, ${f.scheduler.selectedOptions[0].textContent}`, cluster: Number(cluster), trace: Number(f.trace.value), scheduler: f.scheduler.value,
    parameters: readParameters(f.parameters), seed: Number(f.seed.value), slot_ms: slot === undefined ? undefined : Math.round(slot * 60_000), horizon_slots: value('#f-horizon'),
  });
  const live = f.mode.value === 'live';
  const run = await post('/api/runs/', { scenario: scenario.id, mode: f.mode.value, ...(live ? { speed: Number($('#f-speed').value) } : {}) });
  location.assign(`/runs/${run.id}/`);
}

function field(title, control, help) {
  return h('div', { class: 'field' }, h('label', { for: control.id }, title), control, help ? (help instanceof Node ? help : h('span', { class: 'help' }, help)) : null);
}

function failList(error) {
  fill($('#list'), h('p', { class: 'error', role: 'alert' }, error.message));
}

list().catch(failList);
if (operator) form().catch((error) => fill($('#new'), h('p', { class: 'error' }, error.message)));
