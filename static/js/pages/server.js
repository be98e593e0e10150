// One server during a run: each resource stacked by job over time, its prices, and its jobs at the time shown.

import { Refusal, logError } from '../core/client-errors.js';
import { onTheme } from '../util/colors.js';
import { $, fill, h, setText, showPanels } from '../ui/dom.js';
import { capacityAt, outagesAt, stepsAt, withoutOutages } from '../util/capacity.js';
import { capital, clock, number, percent, significant } from '../util/format.js';
import { Later, atMost } from '../util/throttle.js';
import { repeatAfter } from '../util/poll.js';
import { get } from '../core/api.js';
import { modelsOf } from '../models/index.js';
import { runInfo } from '../core/run-info.js';
import { View } from '../core/ranges/time-range.js';
import { UnseenTimes } from '../core/ranges/unseen-times.js';
import { url } from '../ui/address/query.js';
import { Playhead } from '../core/playhead.js';
import { Store } from '../core/store.js';
import { Stream } from '../core/sockets/stream.js';
import { priceText, serverCurves, serverPrices } from '../charts/prices.js';
import { Stack } from '../charts/resource-stack.js';
import { Curves } from '../charts/line-panel.js';
import { banner } from '../ui/banner.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { followOnRunPage } from '../live/on-run-page.js';
import { Activity } from '../run/activity.js';
import { Drawer } from '../run/drawer/job-drawer.js';
import { JobKey, jobsWithin } from '../run/job-key.js';
import { EventStep } from '../run/event-stepper.js';
import { forkAt } from '../run/forks.js';
import { presentOf, sampleTiles } from '../run/figures/sample-tiles.js';
import { ServerJobs, barsAt } from '../run/server-jobs.js';
import { PagePart } from '../ui/failures/page-part.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { tile } from '../ui/tile.js';
import { numbersButton } from '../ui/table-toggle.js';
import { pictureButton } from '../ui/png-button.js';
import { CHART_KEYS, PLAYHEAD_KEYS, shortcutsHelp } from '../ui/shortcuts.js';
import { Tip, tipElement } from '../ui/tooltip.js';
import { Transport } from '../run/transport.js';

const REFRESH_MS = 200;
const PRICES_MS = 1500;
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
  const self = info.cluster.servers[server];
  const models = modelsOf(info);
  const own = models.reduce((bars, model) => model.barsOn(bars, server, store), ownBars());
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

  const outagesThen = (p) => outagesAt(self, p, info.run.mode === 'mirror');
  const capacityThen = ({ capacity }, p) => withoutOutages(stepsAt(capacity, p), outagesThen(p));
  const measures = models.flatMap((model) => model.stacks(self, info, () => own().bars));
  const made = measures.map((measure) =>
    panel(
      measure,
      (canvas, tip) =>
        new Stack(canvas, {
          ...measure,
          capacity: measure.capacity && ((p) => capacityThen(measure, p)),
          view,
          playhead,
          source: own,
          nameOf: (job) => info.ids[job],
          tip,
          onPick: pick,
        }),
    ),
  );
  const stacks = made.filter(Boolean);
  let priced = null;
  const prices = new Curves($('#prices'), {
    view,
    playhead,
    legend: $('#prices-legend'),
    // without the name of the server, which is in the title of the page
    compute: () => (priced ? serverCurves(priced, info).map((one) => ({ ...one, name: info.names[one.group] })) : []),
    exact: (t) => (priced ? serverPrices(priced, info, t) : {}), // none after the last slot, as on the page of the run
    format: priceText,
    y: {
      type: 'linear',
      min: 0,
      border: { display: false },
      ticks: { maxTicksLimit: 5, callback: (v) => significant(v) },
    },
  });
  numbersButton('prices', () => prices.table((ms) => clock(ms)));
  pictureButton('prices', `run-${runId}-${self.name}-prices`);
  $('#panel-prices').hidden = true;
  const refreshPrices = new Later(PRICES_MS, async () => {
    const then = transport.then;
    const at = then ?? store.simMs;
    if (!info.phases.some(({ quotes, from_ms: from }) => quotes && from <= at)) {
      $('#panel-prices').hidden = true; // no scheduler so far has prices
      return;
    }
    try {
      priced = await get(`/api/runs/${runId}/prices/${server}/${then === null ? '' : `?at_ms=${then}`}`);
      $('#panel-prices').hidden = false;
      setText(
        $('#prices-note'),
        `Prices per unit and slot, with the plan of ${then === null ? 'the latest time' : clock(then)}.` +
          (store.edits.some(([atMs]) => atMs <= at)
            ? ' Slots before an edit keep the prices that they had before it.'
            : '') +
          (outagesThen(at).length ? ' There are no prices in outages.' : '') +
          (info.phases.some(({ quotes, from_ms: from }) => !quotes && from <= at)
            ? ' Slots in which a scheduler without prices decides have no prices.'
            : ''),
      );
      prices.update();
    } catch (error) {
      priced = null; // not those of another time
      $('#panel-prices').hidden = false;
      setText($('#prices-note'), error.message);
      prices.update();
      repeatAfter(error, () => refreshPrices.ask());
    }
  });
  const jobs = new ServerJobs({ runId, outagesAt: outagesThen, nameOf: (job) => info.ids[job], onPick: pick });
  const key = new JobKey($('#job-key'), { nameOf: (job) => info.ids[job], onPick: pick });
  const paint = () => {
    const { bars, rows } = own();
    key.paint(jobsWithin(bars, rows, view.from, view.to, playhead.ms));
    tiles(measures, own(), info, capacityThen);
    for (const measure of measures) paintCapacity(measure, playhead.ms, outagesThen(playhead.ms).length > 0);
    jobs.paint(own(), playhead.ms);
  };
  const refresh = atMost(REFRESH_MS, paint);
  const refreshDrawer = new Later(PRICES_MS, async () => {
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
      refreshPrices.ask();
      refreshDrawer.ask();
    });
  }
  view.addEventListener('range', () => {
    refresh();
    $('#back').href = `/runs/${runId}/${location.search}`;
  });
  stream.addEventListener('data', () => {
    transport.reach();
    steps.grown();
    for (const chart of [...stacks, prices]) chart.update();
    refresh();
    refreshPrices.ask();
  });
  if (info.run.mode === 'mirror') setInterval(refresh, SAMPLES_MS);
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
  paint();
  reveal(); // its axes have the times of the run now
  transport.keepAddress();
  await steps.start();
  if (wantedJob !== null) pick(wantedJob);
}

/** () -> {bars: the store's, rows: those on this server}; searched again only after new bars. */
function ownBars() {
  let [rows, seen, generation] = [[], 0, -1];
  return () => {
    if (generation !== store.generation) [rows, seen, generation] = [[], 0, store.generation];
    for (; seen < store.bars.length; seen++) if (store.bars.server[seen] === server) rows.push(seen);
    return { bars: store.bars, rows };
  };
}

/** A card with a canvas; make(canvas, tip) -> its chart. */
function panel({ key, title, capacity }, make) {
  const id = `stack-${key}`;
  const canvas = h('canvas', {
    id,
    tabindex: 0,
    role: 'img',
    'aria-label': `${capital(title)} over time by job; the Table button shows the same numbers`,
  });
  const tip = tipElement();
  $('#resources').append(
    h(
      'section',
      { class: 'card flush' },
      h(
        'header',
        {},
        h('h2', {}, capital(title)),
        h('span', { class: 'muted small', id: `${id}-capacity` }, capacity === null ? 'one layer per job' : ''),
        h(
          'div',
          { class: 'actions' },
          h('button', { type: 'button', class: 'quiet', id: `${id}-table`, 'aria-pressed': 'false' }, 'Table'),
        ),
      ),
      h('div', { class: 'plot stacked' }, canvas, tip),
      h('div', { class: 'numbers', id: `${id}-numbers`, hidden: true }),
    ),
  );
  const chart = inPanel(canvas, () => make(canvas, new Tip(tip)))();
  if (!chart) return null; // the panel says so
  numbersButton(id, () => chart.table());
  pictureButton(id, `run-${runId}-server-${server}-${key}`);
  return chart;
}

/** Paints the text on the capacity as known at p. */
function paintCapacity({ key, unit, capacity }, p, hasOutages) {
  if (capacity === null) return;
  const text = capacityText(stepsAt(capacity, p), unit);
  setText($(`#stack-${key}-capacity`), `by job; dashed line: capacity, ${text}${hasOutages ? '; 0 in outages' : ''}`);
}

/** '4 GPU until 08:00:00, then 1 GPU' */
function capacityText(capacity, unit) {
  // without the steps that edits of other resources make
  const steps = capacity.filter(([, amount], i) => amount !== capacity[i + 1]?.[1]);
  const parts = steps.map(([until, amount]) => {
    const text = `${number(amount, 2)} ${amount === 1 ? unit.replace(/(?<=[a-z])s$/, '') : unit}`; // 1 worker
    return until === Infinity ? text : `${text} until ${clock(until)}`;
  });
  return parts.join(', then ');
}

function tiles(measures, source, info, capacityThen) {
  const now = barsAt(source, playhead.ms);
  const jobs = new Set(now.map((bar) => source.bars.job[bar]));
  const meter = (share) =>
    h(
      'span',
      { class: 'meter', title: percent(share, 1), 'aria-hidden': 'true' },
      h('i', { css: { width: `${100 * Math.min(1, share)}%` } }),
    );
  fill(
    $('#tiles'),
    tile('Jobs here', number(jobs.size, 0)),
    measures
      .filter(({ capacity }) => capacity !== null)
      .map((measure) => {
        const { title, unit, amountOf } = measure;
        const held = now.reduce((sum, bar) => sum + amountOf(bar), 0);
        const whole = capacityAt(capacityThen(measure, playhead.ms), playhead.ms);
        return tile(
          title.toLowerCase() === unit.toLowerCase() ? capital(title) : `${capital(title)}, ${unit}`,
          [number(held, 2), h('small', {}, ` of ${number(whole, 2)}`)],
          { more: meter(whole ? held / whole : 0) },
        );
      }),
    sampleTiles(store, info, server, playhead.ms, playhead.following ? presentOf(status, statusAt) : null),
  );
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
