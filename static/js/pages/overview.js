// Overview: the present of one run, live clusters, and the runs as cards or as a table.

import { get } from '../core/api.js';
import { metricTable } from '../core/metric-table.js';
import { address } from '../compare/comparison.js';
import { $, debounce, fill, h } from '../ui/dom.js';
import { DataTable, empty, firstRun, shown } from '../ui/data-table.js';
import { followOverview } from '../ui/connection-badge.js';
import { FirstSteps } from '../home/first-steps.js';
import { BEGUN } from '../core/active-runs.js';
import { Present } from '../home/present.js';
import { MAX_RUNS, presentRuns } from '../home/present-runs.js';
import { RunCards } from '../home/run-cards.js';
import { RunFilters } from '../home/run-filters.js';
import { runColumns } from '../home/run-table.js';
import { LiveClusters } from '../live/on-overview.js';
import { startTemplates } from '../scenarios/templates.js';
import { hasMetrics, untilText } from '../run/metrics/metrics-panel.js';
import { plural } from '../util/format.js';
import { PagePart } from '../ui/failures/page-part.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { isPassing, isRefusal, repeatAfter } from '../util/poll.js';

const MAX_LIVE = 8; // active runs whose metrics are requested at a time
const PAGE = 24; // runs that are listed at first, and with each "more"
const NEWEST = 50; // runs that are requested besides those of the filters
const FRESH_MS = 1000;
const FOLLOW_MS = 2000; // after the metrics of running runs were fetched: they change without a message
const AGAIN_MS = 5000; // after a failure to load the list
const WAITING_MS = 2000; // between two polls of waiting runs
const live = new Map(); // run id -> its newest metrics
const asked = new Map(); // run id -> turn in which they were requested last
let turn = 0;
const ended = new Map(); // run id -> the same of an ended run without stored metrics
let list = null; // the table of runs, once its columns are known
let size = PAGE;
let runs = [];
let newest = []; // the newest runs regardless of the filters, all active ones and the chosen one: one is shown on top
let found = null; // the answer of the list
const present = new Present($('#present'));
const listed = new PagePart('list of runs');
const activeMetrics = new PagePart('metrics of active runs');
const endedMetrics = new PagePart('metrics of cancelled and failed runs');
const steps = $('#first-steps') ? new FirstSteps($('#first-steps'), $('#show-steps')) : null;
const filters = new RunFilters($('#runs-card'), (name) => {
  if (name === 'view') return paint();
  size = PAGE;
  loadAll();
});

const ticked = new Set(); // runs to compare, the base first

/** The newest metrics of an active run; once it has ended they are out of date. */
const liveOf = (run) => (run && BEGUN.includes(run.status) ? live.get(run.id) : undefined);

/** The metrics of an ended run that stored none. */
const moment = (run) => liveOf(run) ?? ended.get(run.id);

let cards; // of the runs; made with the table of metrics

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
  $('#compare').textContent = ticked.size > 1 ? `Compare ${plural(ticked.size, 'run')}` : 'Compare runs';
  $('#compare').classList.toggle('primary', ticked.size > 1);
  $('#compare-hint').textContent =
    ticked.size === 0 ? 'Select runs to compare' : ticked.size === 1 ? 'Select one more' : '';
}

async function load() {
  const query = filters.query(size);
  const [page, all, metrics] = await Promise.all([
    get(`/api/runs/?${query}`),
    filters.narrow ? get(`/api/runs/?size=${NEWEST}`) : null,
    metricTable(),
  ]);
  const candidates = await presentRuns(all ?? page);
  if (query !== filters.query(size)) return; // another answer is on its way
  listed.loaded();
  found = page;
  runs = page.results;
  newest = candidates;
  cards ??= new RunCards($('#cards'), { metrics, tick, moment });
  list ??= new DataTable($('#runs'), {
    name: 'runs',
    tools: $('#runs-tools'),
    size: MAX_RUNS,
    onSort: () => {
      if (runs.length === found.count || size === MAX_RUNS) return;
      size = MAX_RUNS; // the order is that of all runs
      loadAll();
    },
    columns: runColumns({ metrics, tick, live: liveOf, moment, isPartial: (run) => ended.has(run.id) }),
  });
  paint();
  watchWaiting();
}

function paint() {
  if (!found) return;
  $('#start').hidden = newest.length > 0;
  $('#runs-count').textContent = shown(runs.length, found.count, found.count === 1 ? 'run' : 'runs');
  paintCompare();
  filters.paint(found);
  const table = filters.view === 'table';
  const none = filters.narrow
    ? empty('No matching runs', 'The search and the filters leave out all runs.', ['Show all runs', '/'])
    : empty('No runs yet', 'A run shows how a scheduler places the jobs of a trace on a cluster.', firstRun());
  $('#cards').hidden = table;
  $('#runs-key').hidden = table || !runs.length;
  $('#runs').hidden = $('#runs-tools').hidden = !table;
  if (table) cards.clear();
  else list.box.replaceChildren();
  paintRuns(table, none);
  $('#runs-more').hidden = runs.length >= Math.min(found.count, MAX_RUNS);
  paintPresent();
  steps?.paint(newest);
}

const paintRuns = inPanel($('#cards'), (table, none) => (table ? list.paint(runs, { none }) : cards.paint(runs, none)));
const paintPresent = inPanel($('#present'), () => present.show(newest));

$('#runs-more').addEventListener('click', () => {
  size = Math.min(size + PAGE, MAX_RUNS);
  loadAll();
});

/** Fetches the metrics of the active runs whose metrics are the oldest. */
async function ask() {
  const active = runs.filter((run) => BEGUN.includes(run.status));
  const oldest = [...active].sort((a, b) => (asked.get(a.id) ?? 0) - (asked.get(b.id) ?? 0));
  const wanted = oldest.slice(0, MAX_LIVE);
  for (const { id } of wanted) asked.set(id, (turn += 1));
  const answers = await Promise.allSettled(wanted.map((run) => get(`/api/runs/${run.id}/now/`)));
  for (const id of live.keys()) if (!active.some((run) => run.id === id)) live.delete(id);
  tellFailure(activeMetrics, answers, ask);
  // no value if the run was just deleted, or the request failed
  answers.forEach((/** @type {any} */ { value }, i) => value && live.set(wanted[i].id, value));
  paint();
  follow();
}

let following; // timer of the metrics
function follow() {
  clearTimeout(following);
  if (runs.some(({ id, status }) => status === 'running' || (BEGUN.includes(status) && !asked.has(id))))
    following = setTimeout(() => (document.hidden ? follow() : refresh()), FOLLOW_MS);
}

/** Fetches once those of each listed run that was cancelled or failed; in sequence, because the server reads logs. */
async function askEnded() {
  const answers = [];
  for (const run of runs.filter((one) => untilText(one) && !hasMetrics(one) && one.last_seq && !ended.has(one.id))) {
    const [answer] = await Promise.allSettled([get(`/api/runs/${run.id}/now/`)]);
    if (answer.status === 'fulfilled') ended.set(run.id, answer.value);
    answers.push(answer);
  }
  tellFailure(endedMetrics, answers, askEnded);
  paint();
}

const repeats = new Map(); // part -> timer of its next request after a failure

/**
 * Reports the first failed request of a part, and repeats the requests later if they may then succeed. A failure for a
 * run that was deleted meanwhile does not count.
 */
function tellFailure(part, answers, again) {
  clearTimeout(repeats.get(part));
  const failed = answers.find(({ reason }) => reason && reason.status !== 404);
  if (!failed) return part.loaded();
  part.failed(failed.reason);
  repeats.set(part, repeatAfter(failed.reason, again));
}

let retry; // timer of the list
let waiting; // timer of the rows of waiting runs
let asking = 0;
/** The rows of waiting runs state for how long they wait, so they are fetched again. */
function watchWaiting() {
  clearTimeout(waiting);
  if (runs.some((run) => run.activity))
    waiting = setTimeout(
      () =>
        load().catch((error) => {
          listed.failed(error);
          if (!isRefusal(error)) watchWaiting();
        }),
      WAITING_MS,
    );
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
  const known = new Set([...runs, ...newest].filter((run) => run.id === news.id));
  if (!known.size) return reload(); // a new run, or one that the filters left out so far
  let turned = false;
  for (const run of known) {
    if (news.status !== run.status) {
      turned = true;
      asked.delete(run.id); // its metrics come first
    }
    Object.assign(run, {
      status: news.status,
      message: news.message,
      activity: news.activity,
      sim_ms: news.sim_ms,
      metrics: news.metrics ?? run.metrics,
    });
  }
  paint();
  watchWaiting();
  if (!turned) return refresh();
  reload();
}

function loadAll() {
  return load()
    .then(ask)
    .then(askEnded)
    .catch((error) => {
      if (error.status === 400 && filters.dropScheduler(error.message)) return;
      listed.failed(error);
      if (!found) {
        $('#present').hidden = true;
        fill($('#cards')); // removes “Loading …”
      }
      clearTimeout(retry);
      if (isPassing(error)) retry = setTimeout(loadAll, AGAIN_MS);
    });
}

new LiveClusters($('#live-clusters')).start();
startTemplates();
loadAll();
followOverview(onMessage, reload);
