// One server during a run: wires its tiles, its charts, its prices and its jobs to the stream and the time shown. Each
// panel fails alone.

import { Refusal, logError } from '../core/client-errors.js';
import { onTheme } from '../util/colors.js';
import { $, fill, h, setText, showPanels } from '../ui/dom.js';
import { countFrom } from '../util/format.js';
import { outagesAt, stepsAt, withoutOutages } from '../util/capacity.js';
import { Later, atMost } from '../util/throttle.js';
import { modelsOf } from '../models/index.js';
import { grow, runInfo } from '../core/run-info.js';
import { View } from '../core/ranges/time-range.js';
import { restrictionOf, zeroText } from '../core/ranges/outage-text.js';
import { UnseenTimes } from '../core/ranges/unseen-times.js';
import { url } from '../ui/address/query.js';
import { Playhead } from '../core/playhead.js';
import { Store } from '../core/store.js';
import { Stream } from '../core/sockets/stream.js';
import { rulesOf } from '../util/run-modes.js';
import { banner } from '../ui/banner.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { followOnRunPage } from '../live/on-run-page.js';
import { Activity } from '../run/activity.js';
import { Drawer } from '../run/drawer/job-drawer.js';
import { EventStep } from '../run/event-stepper.js';
import { forkAt } from '../run/forks.js';
import { presentOf, sampleTiles } from '../run/metrics/sample-tiles.js';
import { JobKey, jobsWithin } from '../run/server/job-key.js';
import { ServerJobs } from '../run/server/jobs.js';
import { ownBars } from '../run/server/own-bars.js';
import { PricesOfServer } from '../run/server/prices.js';
import { Stacks } from '../run/server/stacks.js';
import { paintServerTiles, paintRestriction } from '../run/server/tiles.js';
import { PagePart } from '../ui/failures/page-part.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { CHART_KEYS, PLAYHEAD_KEYS, shortcutsHelp } from '../ui/shortcuts.js';
import { Transport } from '../run/transport.js';

const REFRESH_MS = 200;
const DRAWER_MS = 1500;
const ADDED_MS = 1000; // jobs and servers of a real cluster are fetched at most this often
const SAMPLES_MS = 1000; // their age grows
const page = $('main').dataset;
const [runId, server] = [Number(page.runId), Number(page.server)];
const store = new Store();
const view = new View();
const playhead = new Playhead();
const transport = new Transport({ store, view, playhead });
view.unseen = new UnseenTimes(store);

let status = null; // newest status message of the run
let statusAt = 0; // wall ms at which it came
let failed = false; // later errors do not replace the first

const part = new PagePart(`run ${runId}`);
main().catch(fail);

async function main() {
  const info = await part.need(() => runInfo(runId));
  transport.beganAt = info.run.began_at;
  countFrom(info.run.began_at);
  const self = info.cluster.servers[server];
  const models = modelsOf(info);
  const own = models.reduce((bars, model) => model.barsOn(bars, server, store), ownBars(store, server));
  const drawer = new Drawer($('#drawer'), runId, info, {
    onShow: (ms) => transport.show(ms),
    onPick: (job) => pick(job),
    onClose: () => url.set({ job: null }),
    then: () => transport.then,
    shownMs: () => playhead.ms,
    goTo: (where, job) => location.assign(`/runs/${runId}/?job=${job}${where === 'events' ? '&events=1' : ''}`),
  });
  const pick = (job) => {
    url.set({ job });
    drawer.open(job);
  };
  const stream = new Stream(runId, store);
  new Activity(runId, stream, say);
  stream.addEventListener('unknown', (/** @type {CustomEvent} */ { detail }) => {
    logError(new Error(detail));
    banner(detail);
  });
  const steps = new EventStep(runId, transport, store);
  Object.assign(globalThis, { twin: { store, view, playhead, stream } });
  chooser(info);

  const outagesThen = (p) => outagesAt(self, p, rulesOf(info.run).looksAhead);
  const capacityThen = ({ capacity }, p) => withoutOutages(stepsAt(capacity, p), outagesThen(p));
  const measures = models.flatMap((model) => model.stacks(self, info, () => own().bars));
  const names = { nameOf: (job) => info.ids[job], onPick: pick };
  const name = `run-${runId}-server-${server}`;
  const stacks = new Stacks($('#resources'), measures, {
    name,
    capacityThen,
    outagesThen,
    seenFrom: () => store.seenFromMs,
    view,
    playhead,
    source: own,
    ...names,
  });
  const about = { runId, server, info, store, view, playhead, transport, outagesThen };
  const prices = new PricesOfServer($('#panel-prices'), about);
  const jobs = new ServerJobs({ runId, store, server: self, outagesAt: outagesThen, ...names });
  const key = new JobKey($('#job-key'), names);
  const panels = [
    inPanel($('#job-key'), () => {
      const { bars, rows } = own();
      key.paint(jobsWithin(bars, rows, view.from, view.to, playhead.ms));
    }),
    inPanel($('#tiles'), () => {
      const present = playhead.following ? presentOf(status, statusAt) : null;
      const measured = sampleTiles(store, info, server, playhead.ms, present);
      const restriction = restrictionOf(self, outagesThen(playhead.ms), playhead.ms);
      paintRestriction(self.name, restriction);
      const isSeen = playhead.ms >= store.seenFromMs;
      const held = { source: own(), p: playhead.ms, measures, capacityThen, isSeen };
      paintServerTiles($('#tiles'), { ...held, restriction, measured });
    }),
    () => stacks.paint(playhead.ms, zeroText(self, outagesThen(playhead.ms))),
    inPanel($('#panel-jobs'), () => jobs.paint(own(), playhead.ms)),
  ];
  const paint = () => panels.forEach((panel) => panel());
  let started = false; // before the times of the run are known, nothing can be shown of it
  const refresh = atMost(REFRESH_MS, () => started && paint());
  const refreshDrawer = new Later(DRAWER_MS, async () => {
    if (drawer.job !== null) await drawer.open(drawer.job);
  });
  shortcutsHelp([
    ...PLAYHEAD_KEYS,
    ['P and N', 'Previous and next event'],
    ['Ctrl and wheel, or pinch', 'Zoom in time at the pointer'],
    ['Drag', 'Pan'],
    ...CHART_KEYS,
  ]);
  $('#drain')?.addEventListener('click', () => {
    forkAt(runId, transport.forkMs, [], { verb: 'drain_servers', servers: self.name }).catch(fail);
  });
  connectionBadge($('#connection'), stream);
  onTheme(refresh);
  let then = null;
  for (const name of ['move', 'state']) {
    playhead.addEventListener(name, () => {
      refresh();
      if (transport.then === then) return;
      then = transport.then;
      prices.refresh();
      refreshDrawer.ask();
    });
  }
  view.addEventListener('range', () => {
    refresh();
    $('#back').href = `/runs/${runId}/${location.search}`;
  });
  let added = 0;
  const takeUpAdded = atMost(ADDED_MS, async () => {
    if (store.added === added && store.jobs.length <= info.ids.length) return;
    ({ added } = store);
    const before = String(self.capacity);
    if (!grow(info, await runInfo(runId)) || String(self.capacity) !== before) location.reload(); // other axes
    refresh();
  });
  stream.addEventListener('data', () => {
    takeUpAdded();
    transport.reach();
    steps.grown();
    stacks.update();
    prices.update();
    refresh();
    prices.refresh();
  });
  if (rulesOf(info.run).dated) setInterval(refresh, SAMPLES_MS);
  stream.addEventListener('status', (/** @type {CustomEvent} */ { detail }) => {
    [status, statusAt] = [detail, Date.now()];
    transport.setStatus(detail);
    setText($('#status'), detail.status);
    $('#status').dataset.state = detail.status;
  });
  const following = followOnRunPage($('#follow'), { runId, view, transport, gantt: null, drawer });
  stream.addEventListener('status', (/** @type {CustomEvent} */ { detail }) => following?.status(detail));
  stream.addEventListener('next', (/** @type {CustomEvent} */ { detail }) => transport.setNext(detail));
  stream.addEventListener('deleted', (/** @type {CustomEvent} */ { detail }) => {
    fail(new Refusal(`${detail} This page shows the data that it had already loaded.`));
    setText($('#status'), stream.state === 'deleted' ? 'deleted' : 'not available');
    $('#status').dataset.state = 'failed';
    if ($('#drain')) $('#drain').hidden = true;
  });
  const wantedJob = url.number('job', { to: info.ids.length - 1, instead: 'No job is selected.' });
  await part.need(() => stream.start());
  started = true;
  paint();
  reveal(); // its axes have the times of the run now
  transport.keepAddress();
  await steps.start();
  if (wantedJob !== null) pick(wantedJob);
}

function chooser(info) {
  const select = $('#other');
  fill(
    select,
    info.cluster.servers.map(({ name }, i) => h('option', { value: i, selected: i === server }, name)),
  );
  select.addEventListener('change', () => location.assign(`/runs/${runId}/servers/${select.value}/${location.search}`));
}

function fail(error) {
  logError(error);
  reveal();
  say(error.message, true);
  failed = true;
}

/** Shows the charts and the tables. */
function reveal() {
  $('#loading')?.remove();
  showPanels('data-waits');
}

function say(text, bad) {
  if (failed) return;
  const element = $('#notice');
  element.hidden = !text;
  element.classList.toggle('bad', bad);
  setText(element, text);
}
