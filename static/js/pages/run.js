// The run page: store and stream, playhead, charts, table and drawer wired together.

import { get } from '../lib/api.js';
import { onTheme } from '../lib/colors.js';
import { $, debounce, fill, h, setText } from '../lib/dom.js';
import { clock, number, plural } from '../lib/format.js';
import { View, url } from '../lib/view.js';
import { animate, redraw } from '../frame.js';
import { Playhead, SPEEDS, clockAt } from '../playhead.js';
import { Store } from '../store.js';
import { Stream } from '../stream.js';
import { Gantt } from '../charts/gantt.js';
import { pricesChart } from '../charts/prices.js';
import { queueChart } from '../charts/queue.js';
import { utilizationChart } from '../charts/utilization.js';
import { connectionBadge } from '../controls/badge.js';
import { Drawer } from '../controls/drawer.js';
import { EventsTable } from '../controls/events.js';
import { groupLegend } from '../controls/group-legend.js';
import { JobsTable } from '../controls/jobs.js';
import { paintMetrics } from '../controls/metrics.js';
import { numbersButton } from '../controls/numbers.js';
import { pictureButton } from '../controls/picture.js';
import { shortcutsHelp } from '../controls/shortcuts.js';
import { CertificatePanel } from '../controls/certificate.js';
import { Operate } from '../controls/operate.js';
import { ServerPrices } from '../controls/server-prices.js';
import { Tiles } from '../controls/tiles.js';
import { Tip } from '../controls/tip.js';

const TILES_MS = 200; // tiles and counts are recomputed at most this often
const JOBS_MS = 1500; // the server's table, too
const NAMES = { gpu: 'GPU', cpu: 'vCPU', memory: 'memory', storage: 'storage', bandwidth: 'bandwidth' };
const runId = Number($('main').dataset.runId);
const store = new Store();
const view = new View();
const playhead = new Playhead();
let status = null;
let skewMs = 0; // wall clock of the server minus ours

main().catch((error) => notice(error.message, true));

async function main() {
  const info = await get(`/api/runs/${runId}/static/`);
  info.names = info.resources.map((name) => NAMES[name] ?? name);
  info.used = info.resources.map((name, r) => info.limits.includes(name) && (usedAt(info.worker, r) || usedAt(info.ps, r)));
  setText($('#subtitle'), `${info.scheduler.title}, ${info.cluster.name}, ${plural(info.cluster.servers.length, 'server')}, ${plural(info.ids.length, 'job')}, ${info.run.mode}`);
  $('#subtitle').title = info.scheduler.summary;

  const gantt = new Gantt($('#gantt'), { store, info, view, playhead, scroller: $('#scroller'), tip: new Tip($('#tip')), order: url.get('rows') === 'jobs' ? 'jobs' : 'servers', onPick: pick });
  const prices = pricesChart($('#prices'), { store, info, view, playhead, legend: $('#prices-legend'), log: url.get('log') !== '0', one: () => oneServer.prices });
  const oneServer = new ServerPrices($('#panel-prices .actions'), runId, info, () => {
    prices.update();
    refreshTiles();
  });
  const utilization = utilizationChart($('#utilization'), { store, info, view, playhead, legend: $('#utilization-legend') });
  const queue = queueChart($('#queue'), { store, view, playhead, legend: $('#queue-legend') });
  const certificate = new CertificatePanel($('#panel-certificate'), { runId, info, view, playhead, canvas: $('#certificate'), legend: $('#certificate-legend'), note: $('#certificate-note') });
  const tiles = new Tiles($('#tiles'), store, info);
  const jobs = new JobsTable(runId, pick, { groups: info.scheduler.groups, now: () => playhead.liveMs });
  const drawer = new Drawer($('#drawer'), runId, info, { onShow: show, onPick: pick, onClose: () => pick(null), now: () => playhead.liveMs });
  const events = new EventsTable(runId, { onShow: show, onPick: pick });
  const operate = new Operate($('#controls'), runId, (error) => notice(error.message, true));
  const stream = new Stream(runId, store);
  Object.assign(globalThis, { twin: { store, view, playhead, gantt, stream } }); // for the console, and the browser tests

  wireToolbar();
  wireGantt(gantt);
  if (info.scheduler.groups) groupLegend();
  for (const element of document.querySelectorAll('.lanes-only')) element.hidden = !info.scheduler.lanes;
  numbersButton('gantt', () => gantt.table());
  for (const [name, chart] of [['prices', prices], ['utilization', utilization], ['queue', queue], ['certificate', certificate.chart]]) numbersButton(name, () => chart.table((ms) => clock(ms)));
  for (const name of ['gantt', 'prices', 'utilization', 'queue', 'certificate']) pictureButton(name, `run-${runId}-${name}`);
  shortcutsHelp([['Space', 'play or pause the playhead'], ['L', 'jump to the newest moment, and follow it'], [', and .', 'step back and forward'], ['Wheel', 'zoom in time at the pointer'],
    ['Drag', 'pan'], ['Shift and wheel', 'scroll the rows of the schedule'], ['← → + − 0', 'pan, zoom and show all, on a chart that has the focus'], ['Double-click', 'show the whole run'], ['Esc', 'close the drawer'], ['?', 'this list']]);
  connectionBadge($('#connection'), stream);

  const refreshTiles = atMost(TILES_MS, () => {
    tiles.paint(playhead.ms, playhead.liveMs);
    $('#gantt-away').hidden = !info.cluster.servers.some((server) => server.away);
    setText($('#panel-utilization h2'), info.scheduler.groups ? 'Used' : info.scheduler.lanes ? 'Workers busy' : 'Allocated');
    setText($('#gantt-detail'), gantt.detail === 'shade' ? `${number(gantt.visible, 0)} bars in the picture: shaded by the share of the server allocated (of the scarcest resource); zoom in for bars.` : gantt.hidesPs ? 'Rows this low leave parameter servers out: + shows them.' : '');
    setText($('#gantt-count'), `${number(gantt.rows.list.length, 0)} rows, ${number(store.bars.length, 0)} bars`);
    const unpriced = !store.prices.size && !store.defaultPrices;
    setText($('#prices-note'), oneServer.prices ? `Server ${oneServer.prices.server}, per whole unit, as planned now. Clear the field for the sites.` : `Mean over the servers of a site, per whole unit. The band runs from the cheapest to the dearest server, of ${info.names[prices.focus ?? 0]}; point at a name for its band.`);
    $('#panel-prices').hidden = unpriced;
  });
  const refreshJobs = atMost(JOBS_MS, () => jobs.refresh());
  wirePrices(prices, refreshTiles);
  onTheme(refreshTiles);
  for (const name of ['move', 'state']) playhead.addEventListener(name, refreshTiles);
  gantt.onDetail = refreshTiles;
  stream.addEventListener('data', () => {
    reach();
    for (const chart of [gantt, prices, utilization, queue]) chart.update();
    oneServer.refresh();
    refreshTiles();
    refreshJobs();
  });
  stream.addEventListener('status', ({ detail }) => {
    status = detail;
    skewMs = (detail.server_wall_ms ?? Date.now()) - Date.now();
    operate.paint(detail);
    certificate.update(detail.certificate);
    paintMetrics($('#panel-metrics'), detail.metrics, detail.decision_ms, info.worth);
    setText($('#status'), detail.status);
    $('#status').dataset.state = detail.status;
    if (detail.message) notice(detail.message, detail.status === 'failed');
    else $('#notice').hidden = true;
    reach();
    animate(live);
    if (drawer.job !== null) drawer.open(drawer.job);
  });

  const wantedFrom = url.number('from');
  const wantedTo = url.number('to');
  const wantedAt = url.number('t');
  const wantedJob = url.number('job');
  await stream.start();
  if (wantedFrom !== null && wantedTo !== null && wantedTo > wantedFrom) view.set(wantedFrom, wantedTo);
  if (wantedAt !== null) playhead.scrub(wantedAt);
  if (wantedJob !== null) pick(wantedJob);
  view.addEventListener('range', debounce(() => url.set(view.fitted ? { from: '', to: '' } : { from: Math.round(view.from), to: Math.round(view.to) }), 250));
  for (const name of ['move', 'state']) playhead.addEventListener(name, debounce(() => url.set({ t: playhead.following ? '' : Math.round(playhead.ms) }), 250));

  function pick(job) {
    gantt.select(job);
    jobs.select(job);
    url.set({ job });
    if (job !== null) drawer.open(job);
    events.of(job, info.ids[job]);
  }
}

/** The moment the run has reached, also between two events of a live run; and how far the time axis goes. */
function reach() {
  let ms = store.simMs;
  if (status?.mode === 'live' && status.status === 'running' && status.wanted === 'running' && !store.finished) {
    const now = clockAt(status.clock, Date.now() + skewMs);
    if (now !== null) ms = Math.max(ms, status.next_event_ms ? Math.min(now, Math.max(status.next_event_ms, ms)) : now);
  }
  playhead.setLive(ms);
  view.setExtent(Math.max(store.horizonMs, ms));
}

function live() {
  reach();
  return status?.mode === 'live' && status.status === 'running' && !store.finished;
}

function show(ms) {
  playhead.scrub(ms);
  view.reveal(ms);
}

function wireToolbar() {
  const [play, speed, scrub, moment, newest] = ['play', 'speed', 'scrub', 'moment', 'live'].map((id) => $(`#${id}`));
  fill(speed, SPEEDS.map(([value, text]) => h('option', { value, selected: value === playhead.speed }, text)));
  play.addEventListener('click', () => {
    if (playhead.playing) playhead.pause();
    else {
      playhead.play();
      animate((nowMs) => playhead.tick(nowMs));
    }
  });
  speed.addEventListener('change', () => playhead.setSpeed(Number(speed.value)));
  scrub.addEventListener('input', () => playhead.scrub((Number(scrub.value) / 1000) * playhead.liveMs));
  newest.addEventListener('click', () => playhead.goLive());
  const paint = () => {
    setText(play, playhead.playing ? 'Pause' : 'Play');
    newest.setAttribute('aria-pressed', String(playhead.following));
    setText(moment, clock(playhead.ms));
    if (document.activeElement !== scrub || playhead.playing || playhead.following) scrub.value = playhead.liveMs ? (playhead.ms / playhead.liveMs) * 1000 : 1000;
  };
  for (const name of ['move', 'state']) playhead.addEventListener(name, () => redraw(paint));
  addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, textarea, button, a, [role="dialog"]') || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = (view.to - view.from) / 200;
    const actions = { ' ': () => play.click(), l: () => playhead.goLive(), L: () => playhead.goLive(), ',': () => playhead.scrub(playhead.ms - step), '.': () => playhead.scrub(playhead.ms + step) };
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  });
  paint();
}

function wireGantt(gantt) {
  const tabs = { servers: $('#by-servers'), jobs: $('#by-jobs') };
  const choose = (order) => {
    for (const [name, tab] of Object.entries(tabs)) tab.setAttribute('aria-selected', String(name === order));
    if (gantt.rows.order !== order) gantt.setOrder(order);
    url.set({ rows: order === 'jobs' ? order : '' });
  };
  for (const order of Object.keys(tabs)) tabs[order].addEventListener('click', () => choose(order));
  choose(gantt.rows.order);
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

function usedAt(demands, r) {
  for (let i = r; i < demands.length; i += 5) if (demands[i] > 0) return true;
  return false;
}

/** Runs action now, and again after `ms` when it was asked for meanwhile. */
function atMost(ms, action) {
  let waiting = false;
  let last = -Infinity;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      last = performance.now();
      action();
    }, Math.max(0, last + ms - performance.now()));
  };
}

function notice(text, bad = false) {
  const element = $('#notice');
  element.hidden = false;
  element.classList.toggle('bad', bad);
  setText(element, text);
}
