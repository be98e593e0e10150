// Prices per whole unit of each resource and site over the slots: the mean over the site's servers, with a band from
// the lowest to the highest.

import { pricesOf } from '../core/slot-prices.js';
import { colors } from '../util/colors.js';
import { significant } from '../util/format.js';
import { LongCurve } from '../util/step-series.js';
import { Curves } from './parts/line-panel.js';
import { SITES, placesOf } from '../util/capacity.js';

export const PRICE_MEASURE = 'utility per unit and slot';

/** A price in a legend, with its unit where there is room. */
export const priceText = (v, { unit }) => (innerWidth < 640 ? significant(v) : `${significant(v)} / ${unit.slice(4)}`);

/** The slot of a time. The end of the last slot belongs to it, as in the curves: the end of a run has prices. */
const slotAt = (t, slotMs, slots) => (t === slots * slotMs ? slots - 1 : Math.floor(t / slotMs));

/** {key of a curve: price of one server at t}; undefined in slots without prices. */
export function serverPrices({ prices }, info, t) {
  const slots = Math.max(0, ...Object.values(prices).map(({ length }) => length));
  const slot = slotAt(t, info.cluster.slot_ms, slots);
  return Object.fromEntries(info.resources.map((resource, r) => [`server${r}`, prices[resource]?.[slot]]));
}

/** Curves of one server from the API's {server, slot_ms, prices: {resource: [price by slot]}}. */
export function serverCurves(answer, info) {
  if (!serverLong.has(answer))
    serverLong.set(
      answer,
      info.resources.map((resource) => longOf(answer.prices[resource] ?? [], answer.slot_ms)),
    );
  return serverLong.get(answer).flatMap((long, r) =>
    long
      ? [
          {
            key: `server${r}`,
            group: r,
            place: answer.server,
            name: `${answer.server} ${info.names[r]}`,
            unit: `per ${info.units[r]}`,
            color: colors().resources[r],
            long,
          },
        ]
      : [],
  );
}

const serverLong = new WeakMap(); // answer -> [LongCurve or null]

/** The curve of prices by slot; null where there is none. The last slot has an end. */
function longOf(prices, slotMs) {
  const y = Float64Array.from(
    { length: prices.length + 1 },
    (_, slot) => prices[Math.min(slot, prices.length - 1)] ?? NaN,
  );
  return y.some(Number.isFinite) ? new LongCurve({ x: y.map((_, slot) => slot * slotMs), y }) : null;
}

/** Curves by slot of all cells [site][resource], cached, and rebuilt only where prices have changed. */
export class CellCurves {
  constructor(slotMs, cells) {
    this.slotMs = slotMs;
    this.cells = cells;
    this.seen = [];
    this.long = [];
  }

  /**
   * [LongCurve or null] of each cell, of a source (core/slot-prices.js) at that version; the last point ends
   * the last slot.
   */
  of(source, version, slots) {
    if (this.source === source && this.version === version && this.seen.length === slots + 1) return this.found;
    this.source = source;
    this.version = version;
    this.#resize(slots + 1);
    this.#fill(source, slots);
    return (this.found = this.long.map((long) => (long.y.some(Number.isFinite) ? long : null)));
  }

  #resize(length) {
    const known = this.seen.length;
    if (length === known) return;
    const longer = (values) => {
      const array = new Float64Array(length);
      if (length > known) array.set(values);
      return array;
    };
    const x = Float64Array.from({ length }, (_, slot) => slot * this.slotMs);
    if (length < known || !known) {
      this.seen = new Array(length);
      this.long = Array.from(
        { length: this.cells },
        () => new LongCurve({ x, y: longer([]), low: longer([]), high: longer([]) }),
      );
    } else {
      this.seen.length = length;
      for (const long of this.long)
        Object.assign(long, { x, y: longer(long.y), low: longer(long.low), high: longer(long.high) });
    }
  }

  #fill(source, slots) {
    let [first, last] = [Infinity, -1];
    for (let slot = 0; slot <= slots; slot++) {
      const columns = pricesOf(source, Math.min(slot, slots - 1));
      if (this.seen[slot] === columns) continue;
      this.seen[slot] = columns;
      first = Math.min(first, slot);
      last = slot;
      this.long.forEach((long, cell) => {
        long.low[slot] = columns?.[0][cell] ?? NaN;
        long.y[slot] = columns?.[1][cell] ?? NaN;
        long.high[slot] = columns?.[2][cell] ?? NaN;
      });
    }
    if (last >= 0) for (const long of this.long) long.changed(first, last + 1);
  }
}

/**
 * one(): prices of the selected server, or null to show those of the sites; source(): source of the latter;
 * onClick(t, curve): a click on the plot; a curve has its `place`, a site or a server, and its resource `group`.
 */
export function pricesChart(
  canvas,
  { store, info, view, playhead, legend, log, onClick, one = () => null, source = () => store },
) {
  const slotMs = info.cluster.slot_ms;
  const lastSlot = () => (info.cluster.horizon_slots ?? Math.ceil(store.horizonMs / slotMs)) - 1;
  const cells = new CellCurves(slotMs, SITES.length * info.resources.length);
  const compute = () => {
    const chosen = one();
    if (chosen) return serverCurves(chosen, info);
    return cells.of(source(), store.priceVersion, lastSlot() + 1).flatMap((long, cell) => {
      const [site, r] = placesOf(cell);
      return long
        ? [
            {
              key: `${site}${r}`,
              group: r,
              place: SITES[site],
              name: `${SITES[site]} ${info.names[r]}`,
              unit: `per ${info.units[r]}`,
              color: colors().resources[r],
              dash: site ? [5, 3] : [],
              long,
            },
          ]
        : [];
    });
  };
  const exact = (t) => {
    const slot = slotAt(t, slotMs, lastSlot() + 1);
    const chosen = one();
    if (chosen) return serverPrices(chosen, info, t);
    const columns = slot <= lastSlot() ? pricesOf(source(), slot) : null;
    return Object.fromEntries((columns?.[1] ?? []).map((price, cell) => [placesOf(cell).join(''), price]));
  };
  const y = {
    type: log ? 'logarithmic' : 'linear',
    border: { display: false },
    ticks: { maxTicksLimit: 5, callback: (v) => significant(v) },
  };
  return new Curves(canvas, {
    view,
    playhead,
    legend,
    compute,
    exact,
    format: priceText,
    bare: significant,
    y,
    measure: PRICE_MEASURE,
    planned: () => !(store.finished && playhead.following), // nothing comes after the end
    onClick,
  });
}
