// Overview: the present of one run, followed clusters, and the runs.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { metricTable } from '../core/metric-table.js';
import { address } from '../compare/comparison.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { clock, number, wall } from '../util/format.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { followOverview } from '../ui/connection-badge.js';
import { Present } from '../home/present.js';
import { LiveClusters } from '../live/on-overview.js';
import { inCharge } from '../models/phases.js';
import { hasMetrics, untilText } from '../run/metrics-panel.js';

const ACTIVE = ['running', 'paused'];
const STATUSES = ['running', 'queued', 'paused', 'finished', 'cancelled', 'failed'];
const MAX_LIVE = 8; // active runs whose metrics are refreshed
const FRESH_MS = 1000;
const WAITING_MS = 2000; // between two polls of waiting runs
const live = new Map(); // run id -> its newest metrics
const ended = new Map(); // run id -> the same of an ended run without stored metrics
let metrics = null; // the table of metrics
let list = null; // the table of runs, once its columns are known
let runs = [];
let total = 0;
let byStatus = {}; // status -> number of runs
const present = new Present($('#present'));

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
  fill(
    $('#runs-by-status'),
    STATUSES.filter((status) => byStatus[status]).map((status) =>
      h('span', { class: 'state', 'data-state': status }, `${number(byStatus[status], 0)} ${status}`),
    ),
  );
  present.show(runs);
}

/** Fetches the metrics of active runs. */
async function ask() {
  const wanted = runs.filter((run) => ACTIVE.includes(run.status)).slice(0, MAX_LIVE);
  const answers = await Promise.allSettled(wanted.map((run) => get(`/api/runs/${run.id}/now/`)));
  live.clear();
  answers.forEach(({ value }, i) => value && live.set(wanted[i].id, value)); // null if the run was just deleted
  paint();
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
  return load().then(ask).then(askEnded).catch(failIn('#runs'));
}

new LiveClusters($('#live-clusters')).start();
loadAll();
followOverview(onMessage, reload);
