// Overview: active runs, and the cluster of the newest run by site.

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
const STATUSES = ['running', 'queued', 'paused', 'finished', 'cancelled', 'failed']; // one tile each
const MAX_LIVE = 8; // active runs whose metrics are refreshed
const FRESH_MS = 1000;
const WAITING_MS = 2000; // between two polls of waiting runs
const live = new Map(); // run id -> its newest metrics
const ended = new Map(); // run id -> the same of an ended run without stored metrics
let metrics = null; // the table of metrics
let list = null; // the table of runs, once its columns are known
let cluster = null; // of the newest run
let runs = [];
let total = 0;
let byStatus = {}; // status -> number of runs

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

/** The newest metrics of an active run; once it has ended they are out of date. */
const figuresOf = (run) => (run && ACTIVE.includes(run.status) ? live.get(run.id) : undefined);

/** The metrics of an ended run that stored none. */
const moment = (run) => figuresOf(run) ?? ended.get(run.id);

/** A note up to which time the metrics of a cancelled or failed run are. */
function partly(run) {
  return ended.has(run.id) ? h('div', { class: 'muted small' }, `metrics ${untilText(run)}`) : null;
}

/** Jobs that hold machines: running ones, and those whose group is profiled or moved. */
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

/** The servers of the newest run's cluster; without runs, those of the newest cluster. */
async function loadCluster() {
  if (runs[0]?.mode === 'mirror') {
    cluster = { name: runs[0].scenario_name, spec: { servers: [] } }; // its servers are in its log: figures.sites
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
            cell: ({ capacity, allocated }) => amount(capacity[key] ?? 0, allocated[key]),
          })),
        ],
        rows,
      ),
    ),
    rows.some(({ allocated }) => Object.keys(allocated).length)
      ? h(
          'p',
          { class: 'muted small' },
          `Numbers and bars: allocated share of the capacity at ${clock(figures.sim_ms)}.`,
        )
      : h('p', { class: 'muted small' }, 'Numbers: capacity. ', utilization(run?.metrics)),
  );
}

/** Rows of the table of sites, from the servers of a cluster.json. */
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

/** The same for a mirrored run, whose nodes run workers only. */
function sitesOfLog(figures) {
  return (figures?.sites ?? []).map((row) => ({ ...row, roles: { worker: row.servers, ps: 0 } }));
}

/** '62 % of 24' over a bar of the share; only the capacity where no share is known. */
function amount(capacity, share) {
  if (share === undefined) return number(capacity, 1);
  return [
    `${percent(share)} of ${number(capacity, 1)}`,
    h(
      'span',
      { class: 'meter', title: `${percent(share, 1)} allocated` },
      h('i', { css: { width: `${100 * Math.min(1, share)}%` } }),
    ),
  ];
}

function utilization(ofRun) {
  const ofResources = [...metrics.values()].filter(({ key }) => key.startsWith('utilization.'));
  const known = ofResources
    .map(({ key, title, unit }) => [title, valueOf(ofRun, key), unit])
    .filter(([, value]) => value !== null);
  if (!known.length) return '';
  return `Whole run: ${known.map(([title, value, unit]) => `${title} ${valueText(value, unit)}`).join(', ')}.`;
}

/** Fetches the metrics of active runs. */
async function ask() {
  const wanted = runs.filter((run) => ACTIVE.includes(run.status)).slice(0, MAX_LIVE);
  const answers = await Promise.allSettled(wanted.map((run) => get(`/api/runs/${run.id}/now/`)));
  live.clear();
  answers.forEach(({ value }, i) => value && live.set(wanted[i].id, value)); // null if the run was just deleted
  paint();
  paintSites();
}

/** Fetches once those of each listed run that was cancelled or failed; in sequence, because the server reads logs. */
async function askEnded() {
  for (const run of runs.filter((one) => untilText(one) && !hasMetrics(one) && one.last_seq && !ended.has(one.id))) {
    const found = await get(`/api/runs/${run.id}/now/`).catch(() => null); // deleted in between
    if (found) ended.set(run.id, found);
  }
  paint();
}

let asking = 0;
/** The rows of waiting runs state for how long they wait, so they are fetched again. */
function watchWaiting() {
  clearTimeout(watchWaiting.timer);
  if (runs.some((run) => run.activity)) watchWaiting.timer = setTimeout(() => load().catch(watchWaiting), WAITING_MS);
}

/** Fetches, at most once in FRESH_MS. */
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

/** Each part of the page fails alone, and shows its error in its place. */
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
