// The run page: store and stream, playhead, charts, table and drawer wired together.

import { banner } from '../ui/banner.js';
import { informed } from '../ui/confirm.js';
import { get, isOfLargeRun, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { onTheme } from '../util/colors.js';
import { $, setText } from '../ui/dom.js';
import { openBelow } from '../ui/popover.js';
import { Later, atMost } from '../util/throttle.js';
import { inCharge, trainingText } from '../core/phases.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { clock, countFrom, plural } from '../util/format.js';
import { datedClock } from '../util/wall-clock.js';
import { grow, runInfo } from '../core/run-info.js';
import { metricTable } from '../core/metric-table.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { View } from '../core/ranges/time-range.js';
import { UnseenTimes } from '../core/ranges/unseen-times.js';
import { hold } from '../ui/address/hash-target.js';
import { serverLink } from '../ui/address/server-link.js';
import { url } from '../ui/address/query.js';
import { Playhead } from '../core/playhead.js';
import { Store } from '../core/store.js';
import { Stream } from '../core/sockets/stream.js';
import { modeText, rulesOf, statusText } from '../util/run-modes.js';
import { ACTIVE } from '../core/active-runs.js';
import { lifeOf } from '../gantt/layers/life.js';
import { metricsWork } from '../run/metrics/metrics-work.js';
import { followOnRunPage } from '../live/on-run-page.js';
import { JctSpread } from '../charts/jct-cdf.js';
import { Activity } from '../run/activity.js';
import { RejectionNote } from '../run/metrics/all-rejected.js';
import { Ask } from '../run/ask.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { Drawer } from '../run/drawer/job-drawer.js';
import { cutAt } from '../run/cut-dialog.js';
import { EventStep } from '../run/event-stepper.js';
import { EventsTable } from '../run/events-table.js';
import { Family, forkAt } from '../run/forks.js';
import { JobsTable } from '../run/jobs-table.js';
import { hasMetrics, paintMetrics, untilText } from '../run/metrics/metrics-panel.js';
import { PagePart } from '../ui/failures/page-part.js';
import { numbersButton } from '../ui/table-toggle.js';
import { printPanel, savePicture } from '../ui/pictures/png-button.js';
import { drainSelection } from '../run/schedule/drain-selection.js';
import { SchedulePanel } from '../run/schedule/schedule-panel.js';
import { CHART_KEYS, PLAYHEAD_KEYS, shortcutsHelp } from '../ui/shortcuts.js';
import { PANELS } from '../run/panels/index.js';
import { ChartPanels } from '../run/panels/mount.js';
import { Readout } from '../run/readout.js';
import { Operate } from '../run/run-controls.js';
import { RunNotice } from '../run/run-notice.js';
import { Tiles } from '../run/metrics/tiles.js';
import { toolbar } from '../ui/toolbar.js';
import { Transport } from '../run/transport.js';
import { Workbench } from '../run/workbench.js';

const TILES_MS = 200; // tiles and counts are recomputed at most this often
const JOBS_MS = 1500; // and the table of jobs, which the server computes
const FAMILY_MS = 1000; // the family of forks is fetched at most this often after a change of one of them
const ADDED_MS = 1000; // new jobs of a real cluster are fetched at most this often
const NARROW_PX = 640; // as in responsive.css
const MARGIN = 0.15; // of the life of a job, left and right of it
const THEN_MS = 700; // and the drawer during playback
const KEYS = [
  ...PLAYHEAD_KEYS,
  ['P and N', 'Previous and next event'],
  ['Ctrl and wheel, or pinch', 'Zoom in time at the pointer'],
  ['Drag', 'Pan'],
  ['Drag along a time axis, or Shift and drag', 'Select a range: zoom all charts, and show its totals'],
  ['Shift and ← →', 'Select a range from the crosshair, in the focused chart; release Shift to zoom'],
  ['Ctrl and click', 'Add a job to the selected ones, or remove it'],
  ['[ and ]', 'Move the crosshair, in the focused chart'],
  ['Shift and wheel', 'Pan'],
  ['Wheel', 'Scroll the rows of the schedule, or the page'],
  ['Alt and drag', 'Select servers and a time range in the schedule for a what-if scenario that drains them'],
  ['← →', 'Move between the controls of a toolbar'],
  ...CHART_KEYS,
];
const runId = Number($('main').dataset.runId);
const store = new Store();
const operator = document.body.dataset.role === 'operator';
const notice = new RunNotice($('#notice'));
const view = new View();
const playhead = new Playhead();
let shown = null; // the moment that table and drawer show; null = the newest
const transport = new Transport({ store, view, playhead });
view.unseen = new UnseenTimes(store);
const refused = (error) => informed(error.message); // a dialog, so that a refusal is not overlooked
const charts = new ChartPanels($('[data-column="main"]'), PANELS);
const bench = new Workbench($('#bench'), $('#panels'), {
  kept: JSON.parse($('main').dataset.arrangement || 'null'),
  keep: (arrangement) =>
    post('/api/arrangement/', arrangement).catch(({ message }) =>
      notice.say(`The arrangement of the panels was not stored: ${message}`, true),
    ),
  actions: pictures,
});

const part = new PagePart(`run ${runId}`);
main().catch((error) => {
  if (isOfLargeRun(error)) return location.reload(); // which shows the page by level of detail
  logError(error);
  notice.say(error.message, true);
});

async function main() {
  const [info, metrics] = await part.need(() => Promise.all([runInfo(runId), metricTable()]));
  countFrom(info.run.began_at);
  const paintSubtitle = () =>
    setText(
      $('#subtitle'),
      [
        inCharge(info.phases, info.run.began_at),
        trainingText(info.phases),
        info.cluster.name,
        plural(info.cluster.servers.length, 'server'),
        plural(info.ids.length, 'job'),
        modeText(info.run.mode),
      ]
        .filter(Boolean)
        .join(', '),
    );
  paintSubtitle();
  $('#subtitle').title = info.phases.map(({ summary }) => summary).join('\n');

  const shared = { runId, store, info, metrics, view, playhead, transport };
  const schedule = new SchedulePanel($('#panel-gantt'), shared, {
    onPick: pick,
    onServer: (server) => location.assign(serverLink(runId, server, transport.then)),
    onFrame: operator ? drainSelection(shared, refused) : null,
  });
  const { gantt } = schedule;
  charts.make({ ...shared, pick });
  const prices = () => charts.made('prices')?.source() ?? store;
  const chosen = () => gantt?.chosen ?? [];
  const readout = panel('#readout', () => new Readout({ store, info, view, playhead, prices, chosen }));
  const tiles = panel('#tiles', () => new Tiles($('#tiles'), store, info, metrics));
  // reasons in a run that goes on change, and the column of reasons would come and go with them
  const ended = !ACTIVE.includes(info.run.status);
  const jobs = panel('#panel-jobs', () => new JobsTable(runId, pick, { info, then: () => transport.then, ended }));
  const drawer = new Drawer($('#drawer'), runId, info, {
    onShow: (ms) => transport.show(ms),
    onPick: pick,
    onClose: () => pick(null),
    then: () => transport.then,
    shownMs: () => playhead.ms,
    goTo,
  });
  let status = null; // the newest status message
  transport.beganAt = info.run.began_at;
  const paced = () => (rulesOf(status).paced && status.status === 'running' ? status.clock : null);
  drawer.clock = () => datedClock(info.run.began_at) ?? paced();
  const events = panel(
    '#panel-events',
    () => new EventsTable(runId, { onShow: (row) => steps.go(row.seq), onPick: pick }),
  );
  const steps = new EventStep(runId, transport, store, (row) => events?.at(row));
  const operate = new Operate($('#controls'), runId, $('h1').textContent, refused);
  const jct = panel('#panel-metrics', () => {
    const made = new JctSpread($('#jct'), metrics.get('jct_ms'));
    numbersButton('jct', () => made.table());
    return made;
  });
  const following = followOnRunPage($('#follow'), { runId, view, transport, gantt, drawer });
  const { notes, run } = info;
  const family = new Family($('#panel-family'), runId, { operator, onError: refused, notes, beganAt: run.began_at });
  const stream = new Stream(runId, store);
  new Activity(runId, stream, (text, bad) => notice.say(text, bad));
  stream.addEventListener('unknown', (/** @type {CustomEvent} */ { detail }) => {
    logError(new Error(detail));
    banner(detail);
  });
  // for the console, and the browser tests
  Object.assign(globalThis, { twin: { store, view, playhead, gantt, stream, bench } });

  const whatIf = rulesOf(run).forkedByCut ? (ms) => cutAt(run, ms) : (ms) => forkAt(runId, ms);
  $('#fork')?.addEventListener('click', () => whatIf(transport.forkMs).catch(refused));
  const paintFamily = inPanel($('#panel-family'), () => family.load());
  paintFamily();
  const familyAgain = new Later(FAMILY_MS, async () => notice.last || paintFamily());
  watchOverview(
    (message) => family.concerns(message) && familyAgain.ask(),
    () => familyAgain.ask(),
  );
  let was = info.run.status; // the list of forks shows the state of each run
  openBelow($('#downloads'), $('#download'));
  shortcutsHelp(KEYS);
  connectionBadge($('#connection'), stream);

  const rejections = new RejectionNote($('#all-rejected'), runId);
  const paintTiles = inPanel($('#tiles'), () => tiles?.paint(playhead.ms, playhead.liveMs));
  const refreshTiles = atMost(TILES_MS, () => {
    paintTiles();
    schedule.paint();
    charts.notify('refresh');
  });
  const refreshNote = atMost(
    JOBS_MS,
    inPanel($('#tiles'), () => rejections.paint(store.verdicts)),
  );
  const refreshJobs = atMost(JOBS_MS, () => jobs?.refresh());
  onTheme(refreshTiles);
  if (gantt) gantt.onDetail = refreshTiles;
  const refreshDrawer = new Later(THEN_MS, async () => {
    if (drawer.job !== null) await drawer.open(drawer.job);
  });
  for (const name of ['move', 'state']) {
    playhead.addEventListener(name, () => {
      refreshTiles();
      const then = transport.then;
      if (then === shown) return;
      shown = then;
      refreshJobs();
      charts.notify('moved');
      refreshDrawer.ask();
    });
  }
  let added = 0;
  const takeUpAdded = atMost(ADDED_MS, async () => {
    if (store.added === added && store.jobs.length <= info.ids.length) return;
    ({ added } = store);
    if (!grow(info, await runInfo(runId))) location.reload();
    paintSubtitle();
  });
  stream.addEventListener('data', () => {
    takeUpAdded();
    transport.reach();
    steps.grown();
    events?.grown(store.lastSeq);
    schedule.update();
    charts.notify('update');
    refreshTiles();
    refreshJobs();
    refreshNote();
  });
  toolbar($('#panel-metrics dl')); // its terms are one tab stop
  const paintMetricsPanel = inPanel($('#panel-metrics'), async (detail) => {
    const until = untilText(detail);
    const known = until && !hasMetrics(detail) ? (await get(`/api/runs/${runId}/`)).metrics : detail.metrics;
    if (hasMetrics({ metrics: known })) tiles?.end(known);
    refreshTiles();
    paintMetrics($('#panel-metrics'), metrics, known, detail.decision_ms, info.worth, until, info.covers);
    if (!$('#panel-metrics').hidden) jct?.paint(store);
  });
  const measuring = metricsWork(runId);
  const paintAsk = inPanel($('#panel-ask'), askable);
  stream.addEventListener('status', (/** @type {CustomEvent} */ { detail }) => {
    status = detail;
    operate.paint(detail);
    paintAsk(detail.status);
    charts.notify('status', detail);
    paintMetricsPanel(detail);
    measuring.status(detail);
    setText($('#status'), statusText(detail));
    $('#status').dataset.state = detail.status;
    if (detail.status !== was) paintFamily();
    was = detail.status;
    transport.setStatus(detail);
    following?.status(detail);
    if (drawer.job !== null) drawer.open(drawer.job);
  });
  stream.addEventListener('large', () => location.reload());
  stream.addEventListener('next', (/** @type {CustomEvent} */ { detail }) => transport.setNext(detail));
  stream.addEventListener('deleted', (/** @type {CustomEvent} */ { detail }) => {
    notice.gone(detail, stream.state, '#controls', '#exports', '#fork', '#panel-ask', '#panel-family');
  });

  const wantedJob = url.number('job', { to: info.ids.length - 1, instead: 'No job is selected.' });
  await part.need(() => stream.start());
  transport.keepAddress();
  schedule.tools?.start();
  await steps.start();
  if (wantedJob !== null) pick(wantedJob);
  else drawer.element.close(); // the template opens it for any job, also for one that does not exist

  /** The form that previews a job is shown while the run is active. */
  function askable(status) {
    const active = ACTIVE.includes(status);
    $('#panel-ask').hidden = !active;
    if (!active || $('#ask-like')) return;
    new Ask($('.ask-body'), runId, info, () => (drawer.job === null ? '' : info.ids[drawer.job]));
    if (location.hash === '#panel-ask') hold($('#panel-ask')); // it was hidden when the page was opened
  }

  /** Shows a job where a link of its drawer leads. */
  function goTo(where, job) {
    if (innerWidth <= NARROW_PX) {
      drawer.close(); // it covers the page
      gantt?.select(job);
      if (where === 'events') events?.of(job, info.ids[job]);
    }
    if (where === 'events') return events?.reveal();
    const life = lifeOf(store, job, playhead.ms);
    if (life) {
      const margin = Math.max(60_000, (life[1] - life[0]) * MARGIN);
      view.set(life[0] - margin, life[1] + margin);
    }
    gantt?.reveal(job);
    $('#panel-gantt').scrollIntoView({ block: 'nearest' });
    $('#gantt').focus({ preventScroll: true });
  }

  function pick(job, more = false) {
    if (more && gantt?.selected !== null && job !== null) {
      gantt.add(job);
      return readout?.update();
    }
    gantt?.select(job);
    readout?.update();
    jobs?.select(job);
    url.set({ job });
    if (job !== null) drawer.open(job);
    events?.of(job, info.ids[job]);
  }
}

/** The panel that `make` returns; null if it fails: the error is then shown in its place. */
function panel(selector, make) {
  return inPanel($(selector), make)();
}

/** PNG and print of a panel, for its menu. */
function pictures(section) {
  const atTime = () => `time shown ${clock(playhead.ms)}, range ${clock(view.from)} to ${clock(view.to)}`;
  const shown = () => section.dataset.shows ?? atTime();
  const png = () => savePicture(section, `run-${runId}-${section.id.replace('panel-', '')}`, shown());
  return [$('canvas', section) && ['Save as PNG', png], ['Print', () => printPanel(section, shown())]].filter(Boolean);
}
