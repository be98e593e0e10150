// Overview: what runs, and the cluster of the newest run by site.

import { get } from '../lib/api.js';
import { address } from '../lib/compare.js';
import { $, debounce, fill, h } from '../lib/dom.js';
import { clock, number, percent, plural, wall } from '../lib/format.js';
import { empty, shown, table } from '../lib/list.js';
import { watchOverview } from '../lib/overview-socket.js';

const RESOURCES = [['gpu', 'GPU'], ['cpu', 'vCPU'], ['memory', 'GB memory'], ['storage', 'GB storage'], ['bandwidth', 'Gbps']];
const ACTIVE = ['running', 'paused'];
const MOST_LIVE = 8; // active runs whose figures are kept fresh
const FRESH_MS = 1000;
const live = new Map(); // run id -> its newest moment in figures
let cluster = null; // of the newest run
let runs = [];
let total = 0;

const ticked = new Set(); // runs to compare, the base first
const columns = [
  { title: '', cell: (run) => tick(run) },
  { title: 'Run', cell: (run) => h('a', { href: `/runs/${run.id}/` }, `${run.id} · ${run.scenario_name}`) },
  { title: 'State', cell: (run) => h('span', { class: 'state', 'data-state': run.status, title: run.message }, run.status) },
  { title: 'Scheduler', cell: (run) => run.scheduler },
  { title: 'Mode', cell: (run) => run.mode },
  { title: 'Time reached', number: true, cell: (run) => clock(run.sim_ms) },
  { title: 'Jobs', number: true, cell: (run) => number(run.job_count, 0) },
  { title: 'Running', number: true, cell: (run) => number(busy(live.get(run.id)?.jobs)) },
  { title: 'Completed', number: true, cell: (run) => number(run.metrics?.completed ?? live.get(run.id)?.jobs.completed) },
  { title: 'Rejected', number: true, cell: (run) => number(run.metrics?.rejected ?? live.get(run.id)?.jobs.rejected) },
  { title: 'Total utility', number: true, cell: (run) => number(run.metrics?.total_utility ?? live.get(run.id)?.utility) },
  { title: 'Started', cell: (run) => h('span', { class: 'nowrap muted' }, wall(run.created_at)) },
];

/** Jobs in a group that is measured or moves hold machines, too. */
function busy(jobs) {
  return jobs && jobs.running + (jobs.profiling ?? 0) + (jobs.moving ?? 0);
}

function tick(run) {
  const box = h('input', { type: 'checkbox', 'aria-label': `Compare run ${run.id}`, 'data-compare': run.id, onchange: () => {
    if (box.checked) ticked.add(run.id);
    else ticked.delete(run.id);
    paintCompare();
  } });
  box.checked = ticked.has(run.id);
  return box;
}

function paintCompare() {
  $('#compare').href = address([...ticked]);
  $('#compare').textContent = ticked.size > 1 ? `Compare ${ticked.size} runs` : 'Compare runs';
  $('#compare').classList.toggle('primary', ticked.size > 1);
  $('#compare-hint').textContent = ticked.size === 0 ? 'tick runs to compare them' : ticked.size === 1 ? 'tick one more' : '';
}

async function load() {
  const page = await get('/api/runs/?size=50');
  runs = page.results;
  total = page.count;
  paint();
}

function paint() {
  $('#start').hidden = runs.length > 0;
  $('#runs-count').textContent = shown(runs.length, total, total === 1 ? 'run' : 'runs');
  paintCompare();
  fill($('#runs'), runs.length ? table(columns, runs) : empty('No runs yet', 'A run appears here as soon as it is started.'));
  const count = (status) => runs.filter((run) => run.status === status).length;
  const tiles = [['Running', count('running')], ['Queued', count('queued')], ['Paused', count('paused')], ['Finished', count('finished')],
    ['Failed', count('failed')], ['Traces', counts.traces], ['Scenarios', counts.scenarios], ['Clusters', counts.clusters]];
  fill($('#tiles'), tiles.map(([name, value]) => h('div', { class: 'tile' }, h('dt', {}, name), h('dd', {}, number(value, 0)))));
}

const counts = {};
async function loadCounts() {
  await Promise.all(['traces', 'scenarios', 'clusters'].map(async (noun) => (counts[noun] = (await get(`/api/${noun}/?size=1`)).count)));
  paint();
}

/** The servers of the newest run's cluster; of the newest cluster when nothing ran. */
async function loadCluster() {
  const scenario = runs.length ? await get(`/api/scenarios/${runs[0].scenario}/`) : null;
  const id = scenario?.cluster ?? (await get('/api/clusters/?size=1')).results[0]?.id;
  cluster = id ? await get(`/api/clusters/${id}/`) : null;
  paintSites();
}

function paintSites() {
  if (!cluster) return fill($('#sites'), empty('No cluster yet', 'Machine lists that are uploaded as traces, and generated clusters, appear here.'));
  const run = runs[0];
  const figures = live.get(run?.id);
  $('#cluster-name').textContent = `${cluster.name}, ${plural(cluster.server_count, 'server')}${run ? `, of run ${run.id}` : ''}`;
  const sum = (servers, key) => servers.reduce((total, server) => total + (server.capacity[key] ?? 0), 0);
  const rows = ['edge', 'cloud'].map((site) => ({ site, servers: cluster.spec.servers.filter((server) => server.site === site),
    allocated: figures?.sites.find((row) => row.site === site)?.allocated ?? {} })).filter(({ servers }) => servers.length);
  const role = (title, name) => ({ title, number: true, cell: ({ servers }) => number(servers.filter((s) => s.roles.includes(name)).length, 0) });
  fill($('#sites'), h('div', { class: 'scroll' }, table([
    { title: 'Site', cell: ({ site }) => site }, { title: 'Servers', number: true, cell: ({ servers }) => number(servers.length, 0) },
    role('for workers', 'worker'), role('for parameter servers', 'ps'),
    ...RESOURCES.map(([key, unit]) => ({ title: unit, number: true, cell: ({ servers, allocated }) => [number(sum(servers, key), 1), figures ? meter(allocated[key]) : null] })),
  ], rows)), figures ? h('p', { class: 'muted small' }, `Bars: share allocated at ${clock(figures.sim_ms)}.`) : utilization(run?.metrics?.utilization));
}

function meter(share) {
  if (share === undefined) return null;
  return h('span', { class: 'meter', title: `${percent(share, 1)} allocated` }, h('i', { css: { width: `${100 * Math.min(1, share)}%` } }));
}

function utilization(means) {
  const known = Object.entries(means ?? {}).filter(([, share]) => Number.isFinite(share));
  if (!known.length) return null;
  return h('p', { class: 'muted small' }, 'Mean allocated over the run: ', known.map(([name, share]) => `${name} ${percent(share, 1)}`).join(', '));
}

/** Asks for the figures of the runs that go on. */
async function ask() {
  const wanted = runs.filter((run) => ACTIVE.includes(run.status)).slice(0, MOST_LIVE);
  const answers = await Promise.allSettled(wanted.map((run) => get(`/api/runs/${run.id}/now/`)));
  live.clear();
  answers.forEach(({ value }, i) => value && live.set(wanted[i].id, value)); // one that has just gone has none
  paint();
  paintSites();
}

let asking = 0;
/** Asks, at most once in FRESH_MS. */
function refresh() {
  asking ||= setTimeout(() => ask().finally(() => (asking = 0)), FRESH_MS);
}

const reload = debounce(() => load().then(() => Promise.all([loadCluster(), ask()])).catch(fail), 300);
function onMessage(message) {
  if (message.type === 'trace') return;
  const news = message.run ?? message;
  const known = runs.find((run) => run.id === news.id);
  if (!known) return reload();
  const ended = news.status !== known.status;
  Object.assign(known, { status: news.status, message: news.message, sim_ms: news.sim_ms, metrics: news.metrics ?? known.metrics });
  paint();
  if (ended) reload();
  else refresh();
}

function fail(error) {
  fill($('#runs'), h('p', { class: 'error', role: 'alert' }, error.message));
}

load().then(() => Promise.all([loadCounts(), loadCluster(), ask()])).catch(fail);
watchOverview(onMessage, reload);
