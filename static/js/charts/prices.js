// Prices per whole unit of each resource and site over the slots: the mean over the site's servers, in a band from the
// cheapest to the dearest.

import { colors } from '../lib/colors.js';
import { significant } from '../lib/format.js';
import { thin } from '../lib/thin.js';
import { Curves } from './curves.js';

const SITES = ['edge', 'cloud'];

/** {x, low, mean, high} of one site and resource over slots [first, last]; NaN where there is no price. */
export function priceSeries(store, slotMs, cell, first, last) {
  const length = Math.max(0, last - first + 1);
  const series = { x: new Float64Array(length), low: new Float64Array(length), mean: new Float64Array(length), high: new Float64Array(length) };
  for (let i = 0; i < length; i++) {
    const columns = store.prices.get(first + i) ?? store.defaultPrices;
    series.x[i] = (first + i) * slotMs;
    series.low[i] = columns?.[0][cell] ?? NaN;
    series.mean[i] = columns?.[1][cell] ?? NaN;
    series.high[i] = columns?.[2][cell] ?? NaN;
  }
  return series;
}

/** Curves of one server from the API's {server, slot_ms, prices: {resource: [price by slot]}}. */
export function serverCurves({ server, slot_ms: slotMs, prices }, info) {
  return info.resources.flatMap((resource, r) => {
    const y = Float64Array.from(prices[resource] ?? [], (price) => price ?? NaN);
    if (!y.some(Number.isFinite)) return [];
    return [{ key: `server${r}`, group: r, name: `${server} ${info.names[r]}`, unit: `per ${info.units[r]}`, color: colors().resources[r],
      x: Float64Array.from(y, (_, slot) => slot * slotMs), y, stepped: true }];
  });
}

/** The series of one cell over all slots [0, last], kept until prices change: () -> {x, low, mean, high}. */
function keptSeries(slotMs) {
  let known = { source: null, version: -1, last: -1, cells: [] };
  return (source, version, cell, last) => {
    if (known.source !== source || known.version !== version || known.last !== last) known = { source, version, last, cells: [] };
    return (known.cells[cell] ??= priceSeries(source, slotMs, cell, 0, last));
  };
}

/** one(): the prices of the server that was chosen, or null for those of the sites; source(): the sites' {prices, defaultPrices}. */
export function pricesChart(canvas, { store, info, view, playhead, legend, log, one = () => null, source = () => store }) {
  const slotMs = info.cluster.slot_ms;
  const lastSlot = () => (info.cluster.horizon_slots ?? Math.ceil(store.horizonMs / slotMs)) - 1;
  const series = keptSeries(slotMs);
  const compute = (range, p, bins) => {
    const chosen = one();
    if (chosen) return serverCurves(chosen, info).map((curve) => ({ ...curve, ...thin(curve, range.from, range.to, bins), low: undefined, high: undefined }));
    const last = lastSlot() + 1;
    const curves = [];
    for (let cell = 0; cell < 10; cell++) {
      const [site, r] = [Math.floor(cell / 5), cell % 5];
      const whole = series(source(), store.priceVersion, cell, last);
      if (!whole.mean.some(Number.isFinite)) continue;
      for (const column of [whole.low, whole.mean, whole.high]) column[last] = column[last - 1]; // the last slot has an end
      const { x, y: mean, low, high } = thin({ ...whole, y: whole.mean }, range.from, range.to, bins);
      curves.push({
        key: `${site}${r}`, group: r, name: `${SITES[site]} ${info.names[r]}`, unit: `per ${info.units[r]}`, color: colors().resources[r],
        dash: site ? [5, 3] : [], x, y: mean, low, high, stepped: true,
      });
    }
    return curves;
  };
  const exact = (t) => {
    const slot = Math.floor(t / slotMs);
    const chosen = one();
    if (chosen) return Object.fromEntries(info.resources.map((resource, r) => [`server${r}`, chosen.prices[resource]?.[slot]]));
    const columns = slot <= lastSlot() ? (source().prices.get(slot) ?? source().defaultPrices) : null;
    return Object.fromEntries((columns?.[1] ?? []).map((price, cell) => [`${Math.floor(cell / 5)}${cell % 5}`, price]));
  };
  const y = { type: log ? 'logarithmic' : 'linear', border: { display: false }, ticks: { maxTicksLimit: 5, callback: (v) => significant(v) } };
  return new Curves(canvas, { view, playhead, legend, compute, exact, format: (v, curve) => (innerWidth < 640 ? significant(v) : `${significant(v)} / ${curve.unit.slice(4)}`), y });
}
