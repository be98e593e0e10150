// Prices in a slot: stated ones, those of all other slots of a phase, and those that an edit leaves in earlier slots.

import assert from 'node:assert/strict';
import test from 'node:test';

import { hasPrices, priceSource, pricesOf } from '../../../static/js/core/slot-prices.js';
import { Store } from '../../../static/js/core/store.js';
import { frame } from '../builders.js';

const H = 3_600_000;
const cells = (value) => Array(10).fill(value);
const columns = (value) => [cells(value), cells(value), cells(value)];
const priced = (slots, value) => {
  const width = slots === 'all' ? 1 : slots.length;
  const sides = Array(10 * width).fill(value);
  return { slots, low: sides, mean: sides, high: sides };
};

test('an edit leaves earlier slots their prices, and later ones get those of its phase', () => {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'run_started', { slot_ms: H }],
      [2, 0, 'priced', priced('all', 1)],
      [3, 0, 'priced', priced([1, 4], 2)],
      [4, 3 * H + 5, 'edited', { said: ['A server fails.'] }],
    ]),
  );
  const means = (source) => [0, 1, 2, 3, 4].map((slot) => pricesOf(source, slot)?.[1][0] ?? null);
  assert.deepEqual(means(store), [1, 2, 1, null, null]);
  store.feed(
    frame([
      [5, 3 * H + 5, 'priced', priced([0, 1, 2, 3, 4], 7)],
      [6, 3 * H + 6, 'priced', priced('all', 8)],
      [7, 3 * H + 7, 'priced', priced([4], 9)],
    ]),
  );
  assert.deepEqual(means(store), [1, 2, 1, 8, 9]);
  const answer = {
    prices: [...store.prices].map(([slot, sides]) => [slot, ...sides]),
    default_prices: store.defaultPrices,
    earlier_prices: store.earlierPrices,
  };
  assert.deepEqual(means(priceSource(answer)), [1, 2, 1, 8, 9]);
});

test('a run may have prices in an earlier phase only, or none', () => {
  assert.equal(hasPrices(priceSource({})), false);
  assert.equal(hasPrices(priceSource({ earlier_prices: [[3, null]] })), false);
  assert.equal(hasPrices(priceSource({ earlier_prices: [[3, columns(1)]] })), true);
  assert.equal(hasPrices(priceSource({ prices: [[3, ...columns(1)]] })), true);
});
