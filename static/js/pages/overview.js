// Overview: what runs, and the cluster of the newest run by site.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { metricTable, valueOf, valueText } from '../core/metric-table.js';
import { address } from '../compare/comparison.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { clock, number, percent, plural, wall } from '../util/format.js';
import { DataTable, empty, shown, table } from '../ui/data-table.js';
import { tile } from '../ui/tile.js';
import { followOverview } from '../ui/connection-badge.js';
import { LiveClusters } from '../live/on-overview.js';
import { inCharge } from '../models/phases.js';
import { hasMetrics, untilText } from '../run/metrics-panel.js';

const RESOURCES = [
  ['gpu', 'GPU'],
  ['cpu', 'vCPU'],
  ['memory', 'GB memory'],
  ['storage', 'GB storage'],
  ['bandwidth', 'Gbps'],
];
const ACTIVE = ['running', 'paused'];
const STATUSES = ['running', 'queued', 'paused', 'finished', 'cancelled', 'failed']; // a tile each
const MAX_LIVE = 8; // active runs whose figures are kept fresh
const FRESH_MS = 1000;
const WAITING_MS = 2000; // between two polls of waiting runs
const live = new Map(); // run id -> its newest moment in figures
const ended = new Map(); // run id -> the same at the end of a run that kept no metrics
let metrics = null; // the table of metrics
let list = null; // the table of runs, once its columns can be named
let cluster = null; // of the newest run
let runs = [];
let total = 0;
let byStatus = {}; // status -> how many of all runs have it

const ticked = new Set(); // runs to compare, the base first
const columns = () => [
  { title: '', cell: (run) => tick(run) },
  {
    title: 'Run',
    value: (run) => run.id,
    cell: (run) => h('a', { href: `/runs/${run.id}/` }, `${run.id} · ${run.scenario_name}`),
  },
  { title: 'State', value: (run) => run.status, cell: (run) => stateCell(run) },
  { title: 'Scheduler', cell: (run) => inCharge(run.schedulers, 'name') },
  { title: 'Mode', value: (run) => run.mode, cell: (run) => run.mode },
  { title: 'Simulated time', value: (run) => run.sim_ms, number: true, cell: (run) => clock(run.sim_ms) },
  { title: 'Jobs', value: (run) => run.job_count, number: true, cell: (run) => number(run.job_count, 0) },
  { title: 'Running', number: true, cell: (run) => number(busy(figuresOf(run)?.jobs)) },
  {
    title: metrics.get('completed').title,
    number: true,
    cell: (run) => number(run.metrics?.completed ?? moment(run)?.jobs.completed),
  },
  {
    title: metrics.get('rejected').title,
    number: true,
    cell: (run) => number(run.metrics?.rejected ?? moment(run)?.jobs.rejected),
  },
  {
    title: metrics.get('total_utility').title,
    number: true,
    cell: (run) => number(run.metrics?.total_utility ?? moment(run)?.utility),
  },
  {
    title: 'Started',
    value: (run) => run.created_at,
    cell: (run) => h('span', { class: 'nowrap muted' }, wall(run.created_at)),
  },
];

function stateCell(run) {
  const state = h('span', { class: 'state', 'data-state': run.status, title: run.message }, run.status);
  return [state, partly(run), run.activity ? h('div', { class: 'muted small' }, run.activity.text) : null];
}

/** The newest figures of a run that goes on: those that came before its end are not those of its end. */
const figuresOf = (run) => (run && ACTIVE.includes(run.status) ? live.get(run.id) : undefined);

/** The figures of a run that kept no metrics. */
const moment = (run) => figuresOf(run) ?? ended.get(run.id);

/** Says up to when the figures of a run go that ended before its end. */
function partly(run) {
  return ended.has(run.id) ? h('div', { class: 'muted small' }, `metrics ${untilText(run)}`) : null;
}

/** Jobs in a group that is measured or moves hold machines, too. */
function busy(jobs) {
  return jobs && jobs.running + (jobs.profiling ?? 0) + (jobs.moving ?? 0);
}

function tick(run) {
  const box = h('input', {
    type: 'checkbox',
    'aria-label': `Compare run ${run.id}`,
    'data-compare': run.id,
    onchange: () => {
      if (box.checked) ticked.add(run.id);
      else ticked.delete(run.id);
      paintCompare();
    },
  });
  box.checked = ticked.has(run.id);
  return box;
}

function paintCompare() {
  $('#compare').href = address([...ticked]);
  $('#compare').textContent = ticked.size > 1 ? `Compare ${ticked.size} runs` : 'Compare runs';
  $('#compare').classList.toggle('primary', ticked.size > 1);
  $('#compare-hint').textContent =
    ticked.size === 0 ? 'select runs to compare' : ticked.size === 1 ? 'select one more' : '';
}

async function load() {
  const [page, known] = await Promise.all([get('/api/runs/?size=50'), metricTable()]);
  metrics = known;
  runs = page.results;
  total = page.count;
  byStatus = page.by_status;
  paint();
  watchWaiting();
}

function paint() {
  $('#start').hidden = runs.length > 0;
  $('#runs-count').textContent = shown(runs.length, total, total === 1 ? 'run' : 'runs');
  paintCompare();
  if (metrics) list ??= new DataTable($('#runs'), { name: 'runs', columns: columns() });
  list?.paint(runs, { none: empty('No runs yet', 'Runs appear here when they are started.') });
  const states = STATUSES.map((status) => [status[0].toUpperCase() + status.slice(1), byStatus[status] ?? 0]);
  const kept = [
    ['Traces', counts.traces],
    ['Scenarios', counts.scenarios],
    ['Clusters', counts.clusters],
  ];
  const tiles = [...states, ...kept];
  fill(
    $('#tiles'),
    tiles.map(([name, value]) => tile(name, number(value, 0))),
  );
}

const counts = {};
async function loadCounts() {
  await Promise.all(
    ['traces', 'scenarios', 'clusters'].map(async (noun) => (counts[noun] = (await get(`/api/${noun}/?size=1`)).count)),
  );
  paint();
}

/** The servers of the newest run's cluster; of the newest cluster when nothing ran. */
async function loadCluster() {
  if (runs[0]?.mode === 'mirror') {
    cluster = { name: runs[0].scenario_name, spec: { servers: [] } }; // its servers are those of its log: figures.sites
    return paintSites();
  }
  const scenario = runs.length ? await get(`/api/scenarios/${runs[0].scenario}/`) : null;
  const id = scenario?.cluster ?? (await get('/api/clusters/?size=1')).results[0]?.id;
  cluster = id ? await get(`/api/clusters/${id}/`) : null;
  paintSites();
}

function paintSites() {
  if (!cluster)
    return fill($('#sites'), empty('No clusters yet', 'Uploaded machine lists and generated clusters appear here.'));
  const run = runs[0];
  const figures = figuresOf(run);
  const rows = run?.mode === 'mirror' ? sitesOfLog(figures) : sitesOfSpec(cluster.spec.servers, figures);
  const servers = rows.reduce((total, row) => total + row.servers, 0);
  $('#cluster-name').textContent = `${cluster.name}, ${plural(servers, 'server')}${run ? `, run ${run.id}` : ''}`;
  const role = (title, name) => ({ title, number: true, cell: ({ roles }) => number(roles[name], 0) });
  fill(
    $('#sites'),
    h(
      'div',
      { class: 'scroll' },
      table(
        [
          { title: 'Site', cell: ({ site }) => site },
          { title: 'Servers', number: true, cell: (row) => number(row.servers, 0) },
          role('for workers', 'worker'),
          role('for parameter servers', 'ps'),
          ...RESOURCES.map(([key, unit]) => ({
            title: unit,
            number: true,
            cell: ({ capacity, allocated }) => [number(capacity[key] ?? 0, 1), figures ? meter(allocated[key]) : null],
          })),
        ],
        rows,
      ),
    ),
    rows.some(({ allocated }) => Object.keys(allocated).length)
      ? h('p', { class: 'muted small' }, `Bars: allocated share at ${clock(figures.sim_ms)}.`)
      : utilization(run?.metrics),
  );
}

/** Rows of the table of sites, of the servers of a cluster.json. */
function sitesOfSpec(servers, figures) {
  const sum = (own, key) => own.reduce((total, server) => total + (server.capacity[key] ?? 0), 0);
  return ['edge', 'cloud']
    .map((site) => [site, servers.filter((server) => server.site === site)])
    .filter(([, own]) => own.length)
    .map(([site, own]) => ({
      site,
      servers: own.length,
      roles: Object.fromEntries(
        ['worker', 'ps'].map((name) => [name, own.filter((s) => s.roles.includes(name)).length]),
      ),
      capacity: Object.fromEntries(RESOURCES.map(([key]) => [key, sum(own, key)])),
      allocated: figures?.sites.find((row) => row.site === site)?.allocated ?? {},
    }));
}

/** The same of a run that mirrors a real cluster, whose nodes run workers only. */
function sitesOfLog(figures) {
  return (figures?.sites ?? []).map((row) => ({ ...row, roles: { worker: row.servers, ps: 0 } }));
}

function meter(share) {
  if (share === undefined) return null;
  return h(
    'span',
    { class: 'meter', title: `${percent(share, 1)} allocated` },
    h('i', { css: { width: `${100 * Math.min(1, share)}%` } }),
  );
}

function utilization(ofRun) {
  const ofResources = [...metrics.values()].filter(({ key }) => key.startsWith('utilization.'));
  const known = ofResources
    .map(({ key, title, unit }) => [title, valueOf(ofRun, key), unit])
    .filter(([, value]) => value !== null);
  if (!known.length) return null;
  return h(
    'p',
    { class: 'muted small' },
    'Whole run: ',
    known.map(([title, value, unit]) => `${title} ${valueText(value, unit)}`).join(', '),
  );
}

/** Asks for the figures of the runs that go on. */
async function ask() {
  const wanted = runs.filter((run) => ACTIVE.includes(run.status)).slice(0, MAX_LIVE);
  const answers = await Promise.allSettled(wanted.map((run) => get(`/api/runs/${run.id}/now/`)));
  live.clear();
  answers.forEach(({ value }, i) => value && live.set(wanted[i].id, value)); // one that has just gone has none
  paint();
  paintSites();
}

/** Asks once for those of each listed run that was cancelled or failed, one after the other: logs are read. */
async function askEnded() {
  for (const run of runs.filter((one) => untilText(one) && !hasMetrics(one) && one.last_seq && !ended.has(one.id))) {
    const found = await get(`/api/runs/${run.id}/now/`).catch(() => null); // deleted meanwhile
    if (found) ended.set(run.id, found);
  }
  paint();
}

let asking = 0;
/** A run that waits says for how long: its row is asked for again. */
function watchWaiting() {
  clearTimeout(watchWaiting.timer);
  if (runs.some((run) => run.activity)) watchWaiting.timer = setTimeout(() => load().catch(watchWaiting), WAITING_MS);
}

/** Asks, at most once in FRESH_MS. */
function refresh() {
  asking ||= setTimeout(() => ask().finally(() => (asking = 0)), FRESH_MS);
}

const reload = debounce(loadAll, 300);
function onMessage(message) {
  if (message.type === 'trace') return;
  if (message.type === 'deleted') {
    ticked.delete(message.id);
    return reload();
  }
  const news = message.run ?? message;
  const known = runs.find((run) => run.id === news.id);
  if (!known) return reload();
  const turned = news.status !== known.status;
  if (turned) {
    byStatus[known.status] -= 1;
    byStatus[news.status] += 1;
  }
  Object.assign(known, {
    status: news.status,
    message: news.message,
    activity: news.activity,
    sim_ms: news.sim_ms,
    metrics: news.metrics ?? known.metrics,
  });
  paint();
  watchWaiting();
  if (!turned) return refresh();
  paintSites();
  reload();
}

/** Each part of the page fails alone: in the place of what it would have shown. */
function failIn(selector) {
  return (error) => {
    logError(error);
    fill($(selector), h('p', { class: 'error', role: 'alert' }, error.message));
  };
}

function loadAll() {
  const ofRuns = () => Promise.all([loadCluster().catch(failIn('#sites')), ask()]).then(askEnded);
  return load().then(ofRuns).catch(failIn('#runs'));
}

new LiveClusters($('#live-clusters')).start();
loadCounts().catch(failIn('#tiles'));
loadAll();
followOverview(onMessage, reload);
