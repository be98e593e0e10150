// Prices of the sites, or of one server, over time.

import { pricesChart } from '../../charts/prices.js';
import { url } from '../../core/ranges/time-range.js';
import { h, setText } from '../../ui/dom.js';
import { PastPrices } from './price-history.js';
import { ServerPrices } from './server-price-picker.js';

export const pricesPanel = {
  id: 'prices',
  title: 'Prices',
  make({ runId, store, info, view, playhead, transport }, { element, legend, actions, canvas, note }) {
    const log = url.get('log') !== '0';
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
    const sources = { one: () => server.prices, source: () => past.source };
    const chart = pricesChart(canvas, { store, info, view, playhead, legend, log, ...sources });
    const refresh = () => {
      element.hidden = store.lastSeq > 0 && !store.prices.size && !store.defaultPrices;
      setText(note, noteOf(server.prices, transport.then, info.names[chart.focus ?? 0]));
    };
    chart.onFocus = refresh;
    server.input.after(logButton(chart, log));
    return {
      chart,
      refresh,
      source: () => past.source,
      moved: () => server.moved(),
      update() {
        chart.update();
        server.refresh();
      },
    };
  },
};

function noteOf(prices, then, resource) {
  if (prices)
    return (
      `Prices of server ${prices.server} per unit and slot, with the plan of the ` +
      `${then === null ? 'latest time' : 'time shown'}. ` +
      'Clear the field to show the sites.'
    );
  return (
    'Mean over the servers of a site, per unit. The band spans the cheapest to the most ' +
    `expensive server for ${resource}; point at a name for its band.`
  );
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
    chart.chart.options.scales.y.type = log ? 'logarithmic' : 'linear';
    chart.update();
    url.set({ log: log ? '' : 0 });
  });
  return button;
}
