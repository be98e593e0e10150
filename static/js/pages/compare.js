// The compare page: runs from the address, one answer of the API for the tables, the runs' own states for the
// schedules.

import { tick } from '../core/first-steps.js';
import { get, getColumns } from '../core/api.js';
import { Refusal, logError } from '../core/client-errors.js';
import { metricTable } from '../core/metric-table.js';
import { runLabel } from '../core/run-info.js';
import { lateText, runsOf, unreadable } from '../compare/comparison.js';
import { paintSpeeds } from '../compare/speed-notes.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { ACTIVE } from '../core/active-runs.js';
import { clock, countFrom, plural } from '../util/format.js';
import { isPassing } from '../util/poll.js';
import { followOverview } from '../ui/connection-badge.js';
import { Later } from '../util/throttle.js';
import { View } from '../core/ranges/time-range.js';
import { PagePart } from '../ui/failures/page-part.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { readTimes } from '../ui/address/times.js';
import { url } from '../ui/address/query.js';
import { redraw } from '../core/render-loop.js';
import { Playhead } from '../core/playhead.js';
import { Gantts } from '../compare/stacked-gantts.js';
import { ChooseRuns } from '../compare/run-picker.js';
import { Differences } from '../compare/differences.js';
import { BREAKDOWNS, Breakdown, paintMetricsTable } from '../compare/metrics-table.js';
import { Ranking } from '../compare/ranking.js';
import { showRace } from '../compare/race-notice.js';
import { wireSchedules } from '../compare/schedule-controls.js';
import { Spreads } from '../compare/spreads-panel.js';
import { paintDivergence } from '../compare/first-divergence.js';

const AGAIN_MS = 1500; // between two updates, while a compared run changes
const FOLLOW_MS = 5000; // the same, while one has new events
const KEEP_MS = 600_000; // the server keeps runs for an hour after it was asked
const MAX_JOB_ROWS = 1000; // if a compared run has more, rows are servers by default
const ids = runsOf(url.get('runs'));
const unread = unreadable(url.get('runs'));
if (unread.length)
  url.refuse('runs', 'must be run numbers separated by commas, for example 1,2', `Left out: ${unread.join(', ')}.`);
const view = new View();
const playhead = new Playhead();
let answer = null;
let metrics = null; // the table of metrics
let failing = false; // whether the notice shows a failure that has passed once the comparison loads
let other = null; // the run compared with the baseline
let choice = null; // of the runs to compare, once it was opened
let gantts = null;
let spreads = null;
let explained = false;
let onlyDifferent = !url.choice('metrics', ['all'], '', 'Metrics with equal values are hidden.');
/** @type {Later | null} */
let follow = null; // updates the comparison while a compared run goes on
let picked = url.get('job');

const kindsPart = new PagePart('kinds of difference');
const differences = new Differences(ids, (row) => pick(row?.id ?? null));
const breakdown = new Breakdown($('#panel-breakdown'), {
  by: url.choice('by', BREAKDOWNS, 'model', 'Jobs are grouped by model.'),
  metric: url.get('figure'),
  onChange: ({ by, metric }) =>
    url.set({ by: by === 'model' ? '' : by, figure: metric === 'mean_jct_ms' ? '' : metric }),
});

const ranking = new Ranking($('#panel-ranking'), {
  metric: url.get('rank'),
  onChange: (metric) => url.set({ rank: metric }),
});

const panels = [
  inPanel($('#panel-ranking'), () => ranking.paint(answer)),
  inPanel($('#panel-metrics'), () => paintMetrics()),
  inPanel($('#panel-breakdown'), () => breakdown.paint(answer)),
  inPanel($('#panel-spread'), () => spreads.paint(answer.distributions)),
  inPanel($('#panel-divergence'), () => paintAgainst()),
];

if (ids.length < 2) choose(true);
else compare().catch(fail);

async function compare() {
  $('#change').hidden = false;
  $('#change').addEventListener('click', () => choose($('#choose').hidden));
  $('#loading').hidden = false;
  await new PagePart('comparison').persist(load);
  if (answer.runs.length < 2) return onlyOne();
  tick('compare');
  $('#loading').hidden = true;
  $('#compared').hidden = false;
  wire();
  const full = answer.runs.slice(0, answer.in_full.length);
  // if there are many jobs, the first rows cover only a small part of the time axis
  const usual = Math.max(...answer.shared.of) > MAX_JOB_ROWS ? 'servers' : 'jobs';
  gantts = new Gantts($('#gantts'), {
    view,
    playhead,
    order: url.choice('rows', ['servers', 'jobs'], usual, `Rows are ${usual}.`),
    byKind: url.choice('color', ['kind', 'job'], 'kind', 'Colours show kinds of difference.') === 'kind',
    onPick: pickIndex,
    onData: () => {
      reach();
      follow?.ask();
    },
  });
  const showChosen = wireSchedules(gantts, view, answer.kinds, usual);
  spreads = new Spreads(full.map(runLabel));
  paint();
  await gantts.start(full);
  showChosen();
  await recolor();
  keepInAddress();
  if (picked !== null && !gantts.list.some(({ info }) => info.ids.includes(picked))) {
    url.refuse('job', 'must be the id of a job of a compared run', 'No job is selected.');
    picked = null;
  }
  if (picked !== null) pick(picked, false);
  Object.assign(globalThis, {
    twin: {
      view,
      playhead,
      gantts,
      get answer() {
        return answer;
      },
    },
  }); // for the console, and the browser tests
  const update = () => load().then(paint).then(recolor).catch(fail);
  setInterval(keepRuns, KEEP_MS);
  const again = new Later(AGAIN_MS, update);
  follow = new Later(FOLLOW_MS, update);
  awaitBegin();
  followOverview(
    (message) => {
      if (!ids.includes((message.run ?? message).id)) return;
      if (message.type === 'deleted')
        fail(new Refusal(`${message.message} This page shows the data that it had already loaded.`));
      else again.ask(); // an ended run may still receive its certificate
    },
    () => again.ask(),
  );
}

/** While the page is open, its runs are not deleted automatically; what fails is repeated at the next time. */
const keepRuns = () => get(`/api/compare/open/?runs=${ids.join(',')}`).catch(() => {});

async function load() {
  const [found, table] = await Promise.all([get(`/api/compare/?runs=${ids.join(',')}`), metricTable()]);
  if (answer && found.runs.length < answer.runs.length)
    throw new Refusal(`${found.notes[0]} This page shows the data that it had already loaded.`);
  answer = found;
  countFrom(answer.began_at);
  metrics = table;
  if (failing) $('#notice').hidden = true;
  failing = false;
  other ??= compared();
  const race = url.number('race', { from: 1, instead: 'The message about the race is not shown.' });
  if (race !== null && !$('#race')) await showRace(race, answer.runs);
}

/** The run of the address that is compared with the baseline, by default the second one. */
function compared() {
  const [, ...others] = answer.in_full;
  const instead = `Run ${others[0]} is compared with run ${answer.in_full[0]}.`;
  return Number(url.choice('against', others.map(String), String(others[0]), instead));
}

/** The name of the trace or cluster that all runs share, or the number of different ones: names may repeat. */
function oneOr(kind) {
  const own = new Set(answer.runs.map((run) => run[`${kind}_id`]));
  return own.size === 1 ? answer.runs[0][kind] : plural(own.size, kind);
}

const MAX_NOTES = 2; // that are shown without a click

/** Shows what limits the comparison: each note in a box of its own, further ones in a list that opens. */
function paintNotes(notes) {
  const list = $('#notes');
  const shown = notes.slice(0, MAX_NOTES).map((note) => h('li', { class: 'notice' }, note));
  const rest = notes.slice(MAX_NOTES).map((note) => h('li', {}, note));
  const open = Boolean(list.querySelector('details')?.open);
  const more = h('details', { open }, h('summary', {}, plural(rest.length, 'more note')), h('ul', {}, rest));
  fill(list, shown, rest.length ? h('li', { class: 'notice' }, more) : null);
}

function paint() {
  const end = answer.at_ms === null ? 'up to the newest event of each run' : `up to ${clock(answer.at_ms)}`;
  const { jobs, same_trace: sameTrace } = answer.shared;
  const first = answer.in_full.length < answer.runs.length ? ` of the first ${answer.in_full.length}` : '';
  const common = `${plural(jobs, sameTrace ? 'common job' : 'common job id')}${first}`;
  setText(
    $('#subtitle'),
    [`${plural(answer.runs.length, 'run')} of ${oneOr('trace')}`, `on ${oneOr('cluster')}, ${common}, ${end}`].join(
      ' ',
    ),
  );
  paintNotes(answer.notes);
  paintSpeeds(answer.speeds);
  const begun = answer.runs.some((run) => run.begun);
  $('#unbegun').hidden = begun;
  $('#compared').toggleAttribute('data-unbegun', !begun);
  $('#metrics-csv').href = `/api/compare/metrics.csv?runs=${ids.join(',')}`;
  for (const paintPanel of panels) paintPanel();
  awaitBegin();
}

/** Updates the comparison until a cut has begun at the time compared: an idle cluster has no event that tells of it. */
function awaitBegin() {
  const going = answer.runs.some(({ status }) => ACTIVE.includes(status));
  if (going && lateText(answer.runs, answer.at_ms)) follow?.ask();
}

function paintMetrics() {
  const hidden = paintMetricsTable($('#metrics'), answer, { explained, onlyDifferent });
  const equal = hidden ? `; ${plural(hidden, 'metric')} with equal values hidden` : '';
  setText($('#metrics-note'), `Below each value: the difference from run ${answer.runs[0].id}${equal}`);
  $('#only-different').setAttribute('aria-pressed', String(onlyDifferent));
}

/** Renders all panels that compare one run with the baseline. */
function paintAgainst() {
  const full = answer.runs.slice(1, answer.in_full.length);
  fill(
    $('#against'),
    full.map((run) =>
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(run.id === other),
          'data-run': run.id,
          onclick: () => against(run.id),
        },
        runLabel(run),
      ),
    ),
  );
  const position = answer.in_full.indexOf(other);
  const divergence = answer.divergences[position - 1];
  paintDivergence($('#divergence'), $('#divergence-actions'), answer, position, divergence, () => {
    pick(divergence.job);
    playhead.scrub(divergence.at_ms);
    view.reveal(divergence.at_ms);
    $('#panel-gantts').scrollIntoView({ behavior: 'smooth', block: 'start' });
  });
  return differences.show(answer, other, metrics);
}

function against(run) {
  other = run;
  url.set({ against: run === answer.in_full[1] ? '' : run, page: '' });
  paintAgainst();
  recolor().catch(fail);
}

async function recolor() {
  const path = `/api/compare/kinds/?runs=${ids.join(',')}`;
  gantts.setKinds(await kindsPart.persist(() => getColumns(path)), other);
  $('#not-compared').hidden = !gantts.uncompared;
}

/** Updates the extent of the time axis, and the time that all runs have reached. */
function reach() {
  if (!gantts?.list.length) return;
  const going = gantts.list.filter(({ store }) => !store.finished && store.lastSeq).map(({ store }) => store.simMs);
  playhead.setLive(going.length ? Math.min(...going) : Math.max(...gantts.list.map(({ store }) => store.simMs)));
  view.setExtent(Math.max(...gantts.list.map(({ store }) => store.horizonMs)));
}

/** Highlights a job everywhere; null = none. */
function pick(id, toView = true) {
  picked = id;
  url.set({ job: id ?? '' });
  differences.select(id);
  gantts?.select(id);
  if (id !== null && toView) {
    const row = differences.last?.rows.find((one) => one.id === id);
    const start = row && (row.base.start_ms ?? row.other.start_ms);
    if (start !== null && start !== undefined) view.reveal(start);
  }
}

function pickIndex(run, index) {
  const { info } = gantts.list.find((entry) => entry.run.id === run);
  const id = info.ids[index];
  pick(id === picked ? null : id, false);
}

function wire() {
  $('#explain').addEventListener('click', () => {
    explained = !explained;
    $('#explain').setAttribute('aria-pressed', String(explained));
    paintMetrics();
  });
  $('#only-different').addEventListener('click', () => {
    onlyDifferent = !onlyDifferent;
    url.set({ metrics: onlyDifferent ? '' : 'all' });
    paintMetrics();
  });
  const scrub = $('#scrub');
  scrub.addEventListener('input', () => playhead.scrub((Number(scrub.value) / 1000) * playhead.liveMs));
  $('#newest').addEventListener('click', () => playhead.goLive());
  const moved = () => {
    if (!scrub.isConnected) return; // this frame comes after the page was left
    setText($('#moment'), clock(playhead.ms));
    $('#newest').setAttribute('aria-pressed', String(playhead.following));
    if (document.activeElement !== scrub || playhead.following)
      scrub.value = playhead.liveMs ? (playhead.ms / playhead.liveMs) * 1000 : 1000;
  };
  for (const name of ['move', 'state']) playhead.addEventListener(name, () => redraw(moved));
  addEventListener('keydown', (event) => event.key === 'Escape' && picked !== null && pick(null));
}

/** Range and moment: read from the address once, then written to it. */
function keepInAddress() {
  reach();
  const finished = gantts.list.every(({ store }) => store.finished);
  readTimes(view, playhead, finished);
  view.addEventListener(
    'range',
    debounce(
      () => url.set(view.fitted ? { from: '', to: '' } : { from: Math.round(view.from), to: Math.round(view.to) }),
      250,
    ),
  );
  for (const name of ['move', 'state'])
    playhead.addEventListener(
      name,
      debounce(() => url.set({ t: playhead.following ? '' : Math.round(playhead.ms) }), 250),
    );
}

function choose(open) {
  $('#choose').hidden = !open;
  $('#change').setAttribute('aria-expanded', String(open));
  if (!open || choice) return;
  choice = new ChooseRuns(ids);
  choice.load();
}

/** Notice that all runs of the address but one were deleted, with other runs to choose. */
function onlyOne() {
  const [left] = answer.runs;
  const notes = answer.notes.join(' ');
  answer = null;
  ids.splice(0, ids.length, left.id);
  fail(new Refusal(notes));
}

function fail(error) {
  logError(error);
  failing = isPassing(error);
  $('#loading').hidden = true;
  $('#notice').hidden = false;
  setText($('#notice'), error.message);
  if (!answer) choose(true);
}
