// Prices of the sites, or of one server, over time: as curves in one plot or in several, or as a heat map. A click
// shows which jobs hold the resource at that time.

import { pricesChart } from '../../charts/prices.js';
import { hasPrices } from '../../core/slot-prices.js';
import { url } from '../../ui/address/query.js';
import { $, fill, h } from '../../ui/dom.js';
import { PastPrices } from './price-history.js';
import { ServerPrices } from './server-price-picker.js';
import { registerPanel } from './registry.js';

const HOLDERS = 'to see the jobs that hold a resource at that time.';
const CLICK = `Click a time in the chart, or press Enter on the chart, ${HOLDERS}`;
const TAP = `Tap a time in the chart ${HOLDERS}`;

/** Layouts of the prices: [name in the address, title, layout of the chart]; info: of the run. */
export const layouts = (info) => [
  ['', 'One plot', null],
  ['resource', 'By resource', { titleOf: ({ group }) => info.names[group] }],
  ['site', 'By site', { titleOf: ({ place }) => place }],
  ['heat', 'Heat map', { heat: true }],
];

registerPanel({
  id: 'prices',
  title: 'Prices',
  make({ runId, store, info, view, playhead, transport, pick }, { element, legend, actions, canvas, note }) {
    const quoted = info.phases.some(({ quotes }) => quotes);
    element.hidden = !quoted; // no space is reserved for a run without prices
    const log = url.choice('log', ['0', '1'], '1', 'The axis is logarithmic.') === '1';
    const past = new PastPrices(runId, transport, store, () => chart.update());
    const server = new ServerPrices(
      actions,
      runId,
      info,
      () => transport.then,
      () => {
        chart.update();
        refresh();
      },
    );
    const holders = later(note, (box) => ({ store, info, playhead, onPick: pick, priceAt, box }));
    const explain = (t, curve) => curve && holders.show((made) => made.show(t, curve.place, curve.group));
    const sources = { one: () => server.prices, source: () => past.source, onClick: explain };
    const chart = pricesChart(canvas, { store, info, view, playhead, legend, log, ...sources });
    const focused = () => chart.shown.find(({ group }) => group === chart.focus) ?? chart.shown[0] ?? chart.curves[0];
    const priceAt = (t, place, r) => {
      const curve = chart.curves.find((one) => one.place === place && one.group === r);
      return curve && chart.exact(t)[curve.key];
    };
    canvas.addEventListener('keydown', ({ key }) => key === 'Enter' && explain(chart.time, focused()));
    const refresh = () => {
      element.hidden = store.lastSeq > 0 ? !hasPrices(store) : !quoted;
      why.disabled = !chart.curves.length;
      say(note, noteOf(server.prices, transport.then, info, chart));
    };
    const why = h('button', { type: 'button', class: 'quiet', id: 'prices-why' }, 'Why this price');
    chart.onFocus = refresh;
    chart.onArrange = ({ plots, rows }) => sized($('.plot', element), plots, rows);
    why.title = 'The jobs that hold the resource at the time shown';
    why.addEventListener('click', () => explain(null, focused()));
    server.input.after(why, layoutChoice(chart, layouts(info), refresh), logButton(chart, log));
    return {
      chart,
      refresh,
      source: () => past.source,
      moved: () => server.moved(),
      update() {
        chart.update();
        server.refresh();
        holders.made?.update();
      },
    };
  },
});

/** The box of "Why this price", made when it is first opened: show(act) calls act(it); made: it, null before. */
function later(note, options) {
  let loading = null;
  const holders = { made: null, show };
  async function show(act) {
    const box = h('div', { class: 'holders', id: 'prices-holders', role: 'region', 'aria-label': 'Why this price' });
    loading ??= import('./price-holders.js').then(({ PriceHolders }) => {
      note.after(box);
      return (holders.made = new PriceHolders(options(box)));
    });
    act(await loading);
  }
  return holders;
}

/** The height of a plot that holds several, or the rows of a heat map. */
function sized(plot, plots, rows) {
  plot.classList.toggle('several', plots > 1 || rows > 0);
  plot.style.setProperty('--plots', plots > 1 ? plots : 0);
  plot.style.setProperty('--rows', rows);
}

/**
 * Note below the chart: what is shown, and hints for the mouse and for touch; paper has only the first.
 *
 * @returns {{facts: string, mouse: string, touch: string}}
 */
function noteOf(prices, then, info, { focus, layout }) {
  const units = `in utility per unit of the resource (${[...new Set(info.units)].join(', ')})`;
  const colours = layout?.heat
    ? 'The colours of a row run from its lowest to its highest price in the range shown; each time has the colour ' +
      'of its highest price. The mark is the price at the time shown. '
    : '';
  if (prices) {
    const plan = then === null ? 'latest time' : 'time shown';
    const facts = `${colours}Prices of server ${prices.server} ${units} and slot, with the plan of the ${plan}. `;
    const clear = 'Clear the field to show the sites. ';
    return { facts, mouse: clear + CLICK, touch: clear + TAP };
  }
  const facts = `${colours}Mean price over the servers of a site, ${units} and slot. `;
  if (layout?.heat) return { facts, mouse: CLICK, touch: TAP };
  const band = `The band spans the cheapest to the most expensive server for ${info.names[focus ?? 0]}. `;
  return { facts: facts + band, mouse: `Point at a name for its band. ${CLICK}`, touch: TAP };
}

function say(note, { facts, mouse, touch }) {
  if (note.textContent === facts + mouse + touch) return;
  const hint = (name, text) => h('span', { class: `hint ${name}` }, text);
  fill(note, h('span', {}, facts, hint('by-mouse', mouse), hint('by-touch', touch)));
}

function layoutChoice(chart, choices, refresh) {
  const select = h(
    'select',
    { id: 'prices-layout', 'aria-label': 'Layout of the prices' },
    choices.map(([value, title]) => h('option', { value }, title)),
  );
  const show = () => {
    chart.arrange(choices.find(([value]) => value === select.value)[2]);
    refresh();
  };
  const known = choices.map(([value]) => value);
  select.value = url.choice('prices', known, '', 'All prices are in one plot.');
  select.addEventListener('change', () => {
    url.set({ prices: select.value });
    show();
  });
  if (select.value) chart.arrange(choices.find(([value]) => value === select.value)[2]);
  return select;
}

function logButton(chart, on) {
  const button = h(
    'button',
    { type: 'button', id: 'prices-log', class: 'quiet', 'aria-pressed': String(on) },
    'Log axis',
  );
  button.addEventListener('click', () => {
    const log = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(log));
    chart.setAxis({ type: log ? 'logarithmic' : 'linear' });
    url.set({ log: log ? '' : 0 });
  });
  return button;
}
