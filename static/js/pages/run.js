// The run page: store and stream, playhead, charts, table and drawer wired together.

import { onTheme } from '../lib/colors.js';
import { $, debounce, setText } from '../lib/dom.js';
import { Later, atMost } from '../lib/later.js';
import { clock, number, plural } from '../lib/format.js';
import { runInfo } from '../lib/run-info.js';
import { View, url } from '../lib/view.js';
import { Playhead } from '../playhead.js';
import { Store } from '../store.js';
import { Stream } from '../stream.js';
import { Gantt } from '../charts/gantt.js';
import { pricesChart } from '../charts/prices.js';
import { JctSpread } from '../charts/jct.js';
import { queueChart } from '../charts/queue.js';
import { utilizationChart } from '../charts/utilization.js';
import { Ask } from '../controls/ask.js';
import { connectionBadge } from '../controls/badge.js';
import { Drawer } from '../controls/drawer.js';
import { EventStep } from '../controls/event-step.js';
import { EventsTable } from '../controls/events.js';
import { Family, forkAt } from '../controls/fork.js';
import { groupLegend } from '../controls/group-legend.js';
import { JobsTable } from '../controls/jobs.js';
import { paintMetrics } from '../controls/metrics.js';
import { numbersButton } from '../controls/numbers.js';
import { PastPrices } from '../controls/past-prices.js';
import { pictureButton } from '../controls/picture.js';
import { ScheduleOptions } from '../controls/schedule-options.js';
import { shortcutsHelp } from '../controls/shortcuts.js';
import { CertificatePanel } from '../controls/certificate.js';
import { Operate } from '../controls/operate.js';
import { ServerPrices } from '../controls/server-prices.js';
import { Tiles } from '../controls/tiles.js';
import { Tip } from '../controls/tip.js';
import { Transport } from '../controls/transport.js';

const TILES_MS = 200; // tiles and counts are recomputed at most this often
const JOBS_MS = 1500; // the server's table, too
const THEN_MS = 700; // and the drawer while time is played
const runId = Number($('main').dataset.runId);
const store = new Store();
const operator = document.body.dataset.role === 'operator';
const view = new View();
const playhead = new Playhead();
let shown = null; // the moment that table and drawer show; null = the newest
const transport = new Transport({ store, view, playhead });

main().catch((error) => notice(error.message, true));

async function main() {
  const info = await runInfo(runId);
  setText($('#subtitle'), `${info.scheduler.title}, ${info.cluster.name}, ${plural(info.cluster.servers.length, 'server')}, ${plural(info.ids.length, 'job')}, ${info.run.mode}`);
  $('#subtitle').title = info.scheduler.summary;

  const gantt = new Gantt($('#gantt'), { store, info, view, playhead, scroller: $('#scroller'), tip: new Tip($('#tip')), onPick: pick, onServer: (server) => location.assign(`/runs/${runId}/servers/${server}/`), onFrame: operator ? framed : null });
  const options = new ScheduleOptions(gantt, { runId, store, info, playhead });
  const prices = pricesChart($('#prices'), { store, info, view, playhead, legend: $('#prices-legend'), log: url.get('log') !== '0', one: () => oneServer.prices, source: () => past.source });
  const past = new PastPrices(runId, transport, store, () => prices.update());
  const oneServer = new ServerPrices($('#panel-prices .actions'), runId, info, () => transport.then, () => {
    prices.update();
    refreshTiles();
  });
  const utilization = utilizationChart($('#utilization'), { store, info, view, playhead, legend: $('#utilization-legend') });
  const queue = queueChart($('#queue'), { store, view, playhead, legend: $('#queue-legend') });
  const certificate = new CertificatePanel($('#panel-certificate'), { runId, info, view, playhead, canvas: $('#certificate'), legend: $('#certificate-legend'), note: $('#certificate-note') });
  const tiles = new Tiles($('#tiles'), store, info);
  const jobs = new JobsTable(runId, pick, { groups: info.scheduler.groups, then: () => transport.then });
  const drawer = new Drawer($('#drawer'), runId, info, { onShow: (ms) => transport.show(ms), onPick: pick, onClose: () => pick(null), then: () => transport.then });
  const events = new EventsTable(runId, { onShow: (row) => steps.go(row.seq), onPick: pick });
  const steps = new EventStep(runId, transport, store, (row) => events.at(row));
  const operate = new Operate($('#controls'), runId, (error) => notice(error.message, true));
  const jct = new JctSpread($('#jct'));
  numbersButton('jct', () => jct.table());
  const family = new Family($('#panel-family'), runId, { operator, onError: (error) => notice(error.message, true) });
  const stream = new Stream(runId, store);
  Object.assign(globalThis, { twin: { store, view, playhead, gantt, stream } }); // for the console, and the browser tests

  wireGantt(gantt);
  $('#fork')?.addEventListener('click', () => forkAt(runId, Math.min(playhead.ms, store.simMs)).catch((error) => notice(error.message, true)));
  family.load().catch((error) => notice(error.message, true));
  if (info.scheduler.groups) groupLegend(gantt);
  for (const element of document.querySelectorAll('.lanes-only')) element.hidden = !info.scheduler.lanes;
  numbersButton('gantt', () => gantt.table());
  for (const [name, chart] of [['prices', prices], ['utilization', utilization], ['queue', queue], ['certificate', certificate.chart]]) numbersButton(name, () => chart.table((ms) => clock(ms)));
  for (const name of ['gantt', 'prices', 'utilization', 'queue', 'certificate']) pictureButton(name, `run-${runId}-${name}`);
  shortcutsHelp([['Space', 'play or pause the playhead'], ['L', 'jump to the newest moment, and follow it'], [', and .', 'move the moment shown back and forward'], ['P and N', 'the event before, the next event'], ['Wheel', 'zoom in time at the pointer'],
    ['Drag', 'pan'], ['Alt and drag', 'frame servers and a range of time of the schedule: what if they were drained?'], ['Shift and wheel', 'scroll the rows of the schedule'], ['← → + − 0', 'pan, zoom and show all, on a chart that has the focus'], ['Double-click', 'show the whole run'], ['Esc', 'close the drawer'], ['?', 'this list']]);
  connectionBadge($('#connection'), stream);

  const refreshTiles = atMost(TILES_MS, () => {
    tiles.paint(playhead.ms, playhead.liveMs);
    $('#gantt-away').hidden = !info.cluster.servers.some((server) => server.away);
    setText($('#panel-utilization h2'), info.scheduler.groups ? 'Used' : info.scheduler.lanes ? 'Workers busy' : 'Allocated');
    setText($('#gantt-detail'), gantt.detail === 'shade' ? `${number(gantt.visible, 0)} bars in the picture: shaded by the share of the server allocated (of the scarcest resource); zoom in for bars and their colours.`
      : gantt.low ? `${plural(gantt.low, 'row')} too low for all of ${gantt.low === 1 ? 'its' : 'their'} bars: shaded by the share allocated; make rows higher with +.`
        : gantt.hidesPs ? 'Rows this low leave parameter servers out: + shows them.' : '');
    options.refresh();
    setText($('#gantt-count'), `${number(gantt.rows.list.length, 0)} rows, ${number(store.bars.length, 0)} bars`);
    const unpriced = !store.prices.size && !store.defaultPrices;
    setText($('#prices-note'), oneServer.prices ? `Server ${oneServer.prices.server}, per whole unit, as planned ${transport.then === null ? 'now' : 'then'}. Clear the field for the sites.` : `Mean over the servers of a site, per whole unit. The band runs from the cheapest to the dearest server, of ${info.names[prices.focus ?? 0]}; point at a name for its band.`);
    $('#panel-prices').hidden = unpriced;
  });
  const refreshJobs = atMost(JOBS_MS, () => jobs.refresh());
  wirePrices(prices, refreshTiles);
  onTheme(refreshTiles);
  gantt.onDetail = refreshTiles;
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
      oneServer.moved();
      refreshDrawer.ask();
    });
  }
  stream.addEventListener('data', () => {
    transport.reach();
    for (const chart of [gantt, prices, utilization, queue]) chart.update();
    oneServer.refresh();
    refreshTiles();
    refreshJobs();
  });
  stream.addEventListener('status', ({ detail }) => {
    operate.paint(detail);
    askable(detail.status);
    certificate.update(detail.certificate);
    paintMetrics($('#panel-metrics'), detail.metrics, detail.decision_ms, info.worth);
    if (!$('#panel-metrics').hidden) jct.paint(store);
    setText($('#status'), detail.status);
    $('#status').dataset.state = detail.status;
    if (detail.message) notice(detail.message, detail.status === 'failed');
    else $('#notice').hidden = true;
    transport.told(detail);
    if (drawer.job !== null) drawer.open(drawer.job);
  });

  const wantedJob = url.number('job');
  await stream.start();
  transport.keepAddress();
  await steps.start();
  if (wantedJob !== null) pick(wantedJob);

  /** Servers and a range of time, framed with Alt on the schedule: a fork in which they are drained. */
  function framed({ servers, from, to }) {
    const names = servers.map((server) => info.cluster.servers[server].name);
    const what = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    if (!confirm(`What if ${what} were drained from ${clock(from)} to ${clock(to)}? A scenario that goes on from there is made; it can still be changed.`)) return;
    const at = Math.max(1, Math.min(from, store.simMs));
    forkAt(runId, at, { verb: 'drain_servers', servers: names.join(' '), at, from: Math.max(from, at), to }).catch((error) => notice(error.message, true));
  }

  /** The form for a job that is not submitted is there while the run goes on. */
  function askable(status) {
    const active = ['queued', 'running', 'paused'].includes(status);
    $('#panel-ask').hidden = !active;
    if (active && !$('#ask-like')) new Ask($('.ask-body'), runId, info, () => (drawer.job === null ? '' : info.ids[drawer.job]));
  }

  function pick(job) {
    gantt.select(job);
    jobs.select(job);
    url.set({ job });
    if (job !== null) drawer.open(job);
    events.of(job, info.ids[job]);
  }
}

function wireGantt(gantt) {
  const filter = $('#row-filter');
  filter.value = url.get('filter') ?? '';
  if (filter.value) gantt.setQuery(filter.value);
  filter.addEventListener('input', debounce(() => {
    gantt.setQuery(filter.value);
    url.set({ filter: filter.value });
  }, 200));
  $('#rows-lower').addEventListener('click', () => gantt.scaleRows(1 / 1.5));
  $('#rows-higher').addEventListener('click', () => gantt.scaleRows(1.5));
  $('#rows-fit').addEventListener('click', () => gantt.scaleRows(0));
  $('#zoom-fit').addEventListener('click', () => view.fit());
}

function wirePrices(prices, refresh) {
  prices.onFocus = refresh;
  const button = $('#prices-log');
  button.setAttribute('aria-pressed', String(url.get('log') !== '0'));
  button.addEventListener('click', () => {
    const log = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(log));
    prices.chart.options.scales.y.type = log ? 'logarithmic' : 'linear';
    prices.update();
    url.set({ log: log ? '' : 0 });
  });
}

function notice(text, bad = false) {
  const element = $('#notice');
  element.hidden = false;
  element.classList.toggle('bad', bad);
  setText(element, text);
}
