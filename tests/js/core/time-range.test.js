// The page's range of time, its crosshair, and what of them stands in the address.

import assert from 'node:assert/strict';
import test from 'node:test';

import { View } from '../../../static/js/core/ranges/time-range.js';

function view(extent = 1000) {
  const made = new View();
  made.setExtent(extent);
  made.fit();
  const events = [];
  for (const name of ['range', 'cursor']) made.addEventListener(name, () => events.push(name));
  return { made, events };
}

test('a fitted range follows a run that grows, in steps, so that the axis stands still between them', () => {
  const { made, events } = view(1000);
  assert.deepEqual([made.from, made.to], [0, 1010]);
  made.setExtent(1005);
  assert.deepEqual([made.to, events.length], [1010, 0]);
  made.setExtent(2000);
  assert.deepEqual([made.from, made.to, events.length], [0, 2080, 1]);
  made.setExtent(100); // plans were given up
  assert.equal(made.to, 104);
});

test('a range that is fitted from a time on follows the run, and fit shows all of it', () => {
  const { made } = view(1000);
  made.fitFrom(600);
  assert.deepEqual([made.from, made.to, made.fitted], [600, 1040, true]);
  made.setExtent(2000);
  assert.deepEqual([made.from, made.to], [600, 2080]);
  made.fit();
  assert.deepEqual([made.from, made.to], [0, 2020]);
});

test('a range that was chosen stays when the run grows, until it is fitted again', () => {
  const { made } = view(1000);
  made.set(100, 300);
  made.setExtent(5000);
  assert.deepEqual([made.from, made.to, made.fitted], [100, 300, false]);
  made.fit();
  assert.deepEqual([made.from, made.to, made.fitted], [0, 5050, true]);
});

test('zooming keeps the moment under the pointer where it is', () => {
  const { made } = view(1000);
  made.set(200, 600);
  made.zoom(0.5, 300);
  assert.deepEqual([made.from, made.to], [250, 450]);
  assert.equal((300 - made.from) / (made.to - made.from), (300 - 200) / 400);
});

test('a moment outside comes into the middle, one inside changes nothing', () => {
  const { made, events } = view(1000);
  made.set(0, 100);
  events.length = 0;
  made.reveal(50);
  assert.deepEqual(events, []);
  made.reveal(500);
  assert.deepEqual([made.from, made.to], [450, 550]);
});

test('the crosshair is announced when it moves, and not when it stays', () => {
  const { made, events } = view();
  for (const ms of [10, 10, 20, null, null]) made.point(ms);
  assert.deepEqual(events, ['cursor', 'cursor', 'cursor']);
});

test('a range that stays is not announced', () => {
  const { made, events } = view(1000);
  made.set(100, 300);
  made.set(100, 300);
  assert.deepEqual(events, ['range']);
});
