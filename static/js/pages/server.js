// One server during a run: each resource stacked by job over time, its prices, and what is on it at the moment shown.

import { onTheme } from '../lib/colors.js';
import { $, fill, h, setText } from '../lib/dom.js';
import { clock, number, percent, plural, significant } from '../lib/format.js';
import { Later, atMost } from '../lib/later.js';
import { empty, shown as counted, table } from '../lib/list.js';
import { get } from '../lib/api.js';
import { runInfo } from '../lib/run-info.js';
import { View, url } from '../lib/view.js';
import { Playhead } from '../playhead.js';
import { NEVER, PS, Store, WORKER, trueAt } from '../store.js';
import { Stream } from '../stream.js';
import { roleName } from '../charts/gantt.js';
import { serverCurves } from '../charts/prices.js';
import { Stack } from '../charts/stack.js';
import { Curves } from '../charts/curves.js';
import { connectionBadge } from '../controls/badge.js';
import { Drawer } from '../controls/drawer.js';
import { EventStep } from '../controls/event-step.js';
import { numbersButton } from '../controls/numbers.js';
import { pictureButton } from '../controls/picture.js';
import { shortcutsHelp } from '../controls/shortcuts.js';
import { Tip } from '../controls/tip.js';
import { Transport } from '../controls/transport.js';

const REFRESH_MS = 200;
const PRICES_MS = 1500;
const MOST_ROWS = 50;
const page = $('main').dataset;
const [runId, server] = [Number(page.runId), Number(page.server)];
const store = new Store();
const view = new View();
const playhead = new Playhead();
const transport = new Transport({ store, view, playhead });

main().catch(fail);

async function main() {
  const info = await runInfo(runId);
  const self = info.cluster.servers[server];
  const own = info.scheduler.groups ? sharedBars() : ownBars();
  const drawer = new Drawer($('#drawer'), runId, info, { onShow: (ms) => transport.show(ms), onClose: () => url.set({ job: null }), then: () => transport.then });
  const pick = (job) => {
    url.set({ job });
    drawer.open(job);
  };
  const stream = new Stream(runId, store);
  const steps = new EventStep(runId, transport, store);
  Object.assign(globalThis, { twin: { store, view, playhead, stream } });
  chooser(info);

  const measures = measuresOf(info, self);
  const stacks = measures.map((measure) => panel(measure, (canvas, tip) => new Stack(canvas, { ...measure, view, playhead, source: own, nameOf: (job) => info.ids[job], tip, onPick: pick })));
  $('#loading').remove();
  let priced = null;
  const prices = new Curves($('#prices'), {
    view, playhead, legend: $('#prices-legend'), compute: () => (priced ? serverCurves(priced, info) : []), format: (v, curve) => `${significant(v)} / ${curve.unit.slice(4)}`,
    y: { type: 'linear', min: 0, border: { display: false }, ticks: { maxTicksLimit: 5, callback: (v) => significant(v) } },
  });
  numbersButton('prices', () => prices.table((ms) => clock(ms)));
  pictureButton('prices', `run-${runId}-${self.name}-prices`);
  $('#panel-prices').hidden = true;
  const refreshPrices = new Later(PRICES_MS, async () => {
    if (!info.scheduler.quotes) return; // its scheduler sets no prices
    const then = transport.then;
    try {
      priced = await get(`/api/runs/${runId}/prices/${server}/${then === null ? '' : `?at_ms=${then}`}`);
      $('#panel-prices').hidden = false;
      setText($('#prices-note'), `Per whole unit in each slot, as planned ${then === null ? 'now' : `at ${clock(then)}`}.`);
      prices.update();
    } catch (error) {
      setText($('#prices-note'), error.message);
    }
  });
  const refresh = atMost(REFRESH_MS, () => {
    tiles(measures, own());
    jobTable(info, own(), pick);
  });
  const refreshDrawer = new Later(PRICES_MS, async () => {
    if (drawer.job !== null) await drawer.open(drawer.job);
  });
  shortcutsHelp([['Space', 'play or pause the playhead'], ['L', 'jump to the newest moment, and follow it'], [', and .', 'move the moment shown back and forward'], ['P and N', 'the event before, the next event'], ['Wheel', 'zoom in time at the pointer'],
    ['Drag', 'pan'], ['← → + − 0', 'pan, zoom and show all, on a chart that has the focus'], ['Double-click', 'show the whole run'], ['Esc', 'close the drawer'], ['?', 'this list']]);
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
  view.addEventListener('range', () => { $('#back').href = `/runs/${runId}/${location.search}`; });
  stream.addEventListener('data', () => {
    transport.reach();
    for (const chart of [...stacks, prices]) chart.update();
    refresh();
    refreshPrices.ask();
  });
  stream.addEventListener('status', ({ detail }) => {
    transport.told(detail);
    setText($('#status'), detail.status);
    $('#status').dataset.state = detail.status;
  });
  const wantedJob = url.number('job');
  await stream.start();
  transport.keepAddress();
  await steps.start();
  if (wantedJob !== null) pick(wantedJob);
}

/** () -> {bars, rows} of the jobs of the groups that hold this machine, as bars of one each. */
function sharedBars() {
  let [known, seq] = [null, -1];
  return () => {
    if (known && seq === store.lastSeq) return known;
    seq = store.lastSeq;
    const mine = store.groups.filter(([, , data]) => data.servers.includes(server)).flatMap(([from, until, data]) => data.jobs.map((job) => [job, from, until === NEVER ? store.simMs : until]));
    const column = (i) => Float64Array.from(mine, (row) => row[i]);
    const all = (value) => new Float64Array(mine.length).fill(value);
    const bars = { length: mine.length, job: column(0), start_ms: column(1), end_ms: column(2), born_ms: column(1), died_ms: all(NEVER), role: all(WORKER), count: all(1) };
    return (known = { bars, rows: [...mine.keys()] });
  };
}

/** () -> {bars: the store's, rows: those on this server}; found again only when bars have come. */
function ownBars() {
  let [rows, seen, generation] = [[], 0, -1];
  return () => {
    if (generation !== store.generation) [rows, seen, generation] = [[], 0, store.generation];
    for (; seen < store.bars.length; seen++) if (store.bars.server[seen] === server) rows.push(seen);
    return { bars: store.bars, rows };
  };
}

/** What is stacked: each resource that plays a part; lanes where places are lanes; jobs where machines are shared. */
function measuresOf(info, self) {
  if (info.scheduler.groups) return [{ key: 'jobs', title: 'Jobs that share this machine', unit: 'jobs', capacity: null, amountOf: () => 1 }];
  if (info.scheduler.lanes && self.lanes) {
    return ['worker', 'parameter server'].map((title, role) => ({ key: `lanes${role}`, title: `Lanes of ${title}s`, unit: 'lanes', capacity: self.lanes[role], amountOf: (bar) => Number((store.bars.role[bar] === PS) === (role === 1)) }))
      .filter(({ capacity }) => capacity > 0);
  }
  return info.names.flatMap((name, r) => {
    if (!info.used[r] || !self.capacity[r]) return [];
    const amountOf = (bar) => {
      const { role, job, count } = store.bars;
      return ((role[bar] === PS ? info.ps : info.worker)[job[bar] * 5 + r] * count[bar]) / 1000;
    };
    return [{ key: info.resources[r], title: name, unit: info.units[r], capacity: self.capacity[r] / 1000, amountOf }];
  });
}

/** A card with a canvas; make(canvas, tip) -> its chart. */
function panel({ key, title, unit, capacity }, make) {
  const id = `stack-${key}`;
  const canvas = h('canvas', { id, tabindex: 0, role: 'img', 'aria-label': `${title} over time by job; the button Table shows the same numbers` });
  const tip = h('div', { class: 'tip', hidden: true });
  $('#resources').append(h('section', { class: 'card flush' },
    h('header', {}, h('h2', {}, title), h('span', { class: 'muted small' }, capacity === null ? 'each one layer' : `by job, of ${number(capacity, 2)} ${unit}`),
      h('div', { class: 'actions' }, h('button', { type: 'button', class: 'quiet', id: `${id}-table`, 'aria-pressed': 'false' }, 'Table'))),
    h('div', { class: 'plot stacked' }, canvas, tip), h('div', { class: 'numbers', id: `${id}-numbers`, hidden: true })));
  const chart = make(canvas, new Tip(tip));
  numbersButton(id, () => chart.table());
  pictureButton(id, `run-${runId}-server-${server}-${key}`);
  return chart;
}

function here({ bars, rows }) {
  const p = playhead.ms;
  return rows.filter((bar) => bars.start_ms[bar] <= p && bars.end_ms[bar] > p && trueAt(bars, bar, p));
}

function tiles(measures, source) {
  const now = here(source);
  const jobs = new Set(now.map((bar) => source.bars.job[bar]));
  const tile = (title, value, share) => h('div', { class: 'tile' }, h('dt', {}, title), h('dd', {}, value, share === undefined ? null : h('span', { class: 'meter', title: percent(share, 1) }, h('i', { css: { width: `${100 * Math.min(1, share)}%` } }))));
  fill($('#tiles'), tile('Jobs here', number(jobs.size, 0)), measures.filter(({ capacity }) => capacity !== null).map(({ title, unit, capacity, amountOf }) => {
    const held = now.reduce((sum, bar) => sum + amountOf(bar), 0);
    return tile(title === unit ? title : `${title}, ${unit}`, [number(held, 2), h('small', {}, ` of ${number(capacity, 2)}`)], held / capacity);
  }));
}

/** What runs here at the moment shown, and what is planned to come. */
function jobTable(info, source, pick) {
  const { bars, rows } = source;
  const p = playhead.ms;
  const now = here(source);
  const next = rows.filter((bar) => bars.start_ms[bar] > p && trueAt(bars, bar, p)).sort((a, b) => bars.start_ms[a] - bars.start_ms[b]);
  const away = (info.cluster.servers[server].away ?? []).find(([begin, end]) => begin <= p && p < end);
  const both = [...now, ...next];
  setText($('#jobs-note'), [`${plural(now.length, 'bar')} at ${clock(p)}, ${number(next.length, 0)} planned to come`, both.length > MOST_ROWS ? counted(MOST_ROWS, both.length, 'bars') : '', away ? `away until ${clock(away[1])}` : ''].filter(Boolean).join('; '));
  const signature = both.slice(0, MOST_ROWS).join() + now.length;
  if (signature === jobTable.signature) return;
  jobTable.signature = signature;
  const running = new Set(now);
  fill($('#jobs'), both.length ? table([
    { title: 'Job', cell: (bar) => h('button', { type: 'button', class: 'link', onclick: () => pick(bars.job[bar]) }, info.ids[bars.job[bar]]) },
    { title: 'When', cell: (bar) => h('span', { class: 'state', 'data-state': running.has(bar) ? 'running' : 'planned' }, running.has(bar) ? 'now' : 'planned') },
    { title: 'Role', cell: (bar) => roleName(bars.role[bar]) }, { title: 'Count', number: true, cell: (bar) => number(bars.count[bar], 0) },
    { title: 'From', number: true, cell: (bar) => clock(bars.start_ms[bar]) }, { title: 'Until', number: true, cell: (bar) => clock(bars.end_ms[bar]) },
  ], both.slice(0, MOST_ROWS)) : empty('Nothing is on this server', away ? 'It is away at this moment.' : 'No bar is here at this moment, and none is planned.'));
}

function chooser(info) {
  const select = $('#other');
  fill(select, info.cluster.servers.map(({ name }, i) => h('option', { value: i, selected: i === server }, name)));
  select.addEventListener('change', () => location.assign(`/runs/${runId}/servers/${select.value}/${location.search}`));
}

function fail(error) {
  $('#loading')?.remove();
  const element = $('#notice');
  element.hidden = false;
  setText(element, error.message);
}
