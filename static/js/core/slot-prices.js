// Prices in a slot: those that were stated for it, or those of all other slots of its phase.

/**
 * prices: of single slots; defaultPrices: of the slots that `prices` does not list, from the newest edit on;
 * earlierPrices: [slot, defaultPrices before it] at each edit.
 *
 * @typedef {any[] | null} Prices [low, mean, high], each flat [site][resource]
 * @typedef {{prices: Map<number, any>, defaultPrices: Prices, earlierPrices?: [number, Prices][]}} PriceSource
 */

/**
 * @param {PriceSource} source
 * @param {number} slot
 * @returns {Prices}
 */
export function pricesOf({ prices, defaultPrices, earlierPrices = [] }, slot) {
  const stated = prices.get(slot);
  if (stated) return stated;
  const earlier = earlierPrices.find(([until]) => slot < until);
  return earlier ? earlier[1] : defaultPrices;
}

/** Source of the prices in an answer of the API or in a snapshot. @param {any} answer @returns {PriceSource} */
export function priceSource({ prices, default_prices: defaultPrices, earlier_prices: earlierPrices }) {
  return {
    prices: new Map((prices ?? []).map((/** @type {any[]} */ [slot, ...columns]) => [slot, columns])),
    defaultPrices: defaultPrices ?? null,
    earlierPrices: earlierPrices ?? [],
  };
}

/** True if any slot may have a price. @param {PriceSource} source */
export const hasPrices = ({ prices, defaultPrices, earlierPrices = [] }) =>
  prices.size > 0 || Boolean(defaultPrices) || earlierPrices.some(([, columns]) => columns);
