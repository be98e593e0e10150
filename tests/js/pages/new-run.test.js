// Cards of a new run: servers as squares, what a scheduler can run, and how long earlier runs took.

import assert from 'node:assert/strict';
import test from 'node:test';

import { arrivalsText, tiles } from '../../../static/js/new-run/pictures.js';
import { timeText, verdict } from '../../../static/js/new-run/scheduler-cards.js';

test('a square is one server while there is room, and shades follow the GPUs', () => {
  const kinds = [
    { servers: 2, gpu: 8, cpu: 64 },
    { servers: 3, gpu: 2, cpu: 64 },
  ];
  assert.deepEqual(
    tiles({ servers: 5, kinds }).map(({ shade }) => shade),
    [3, 3, 1, 1, 1],
  );
});

test('squares of a large site stand for several servers each, and for all of them together', () => {
  const kinds = [
    { servers: 999, gpu: 0, cpu: 8 },
    { servers: 1, gpu: 0, cpu: 4 },
  ];
  const squares = tiles({ servers: 1000, kinds });
  assert.equal(
    squares.reduce((sum, { servers }) => sum + servers, 0),
    1000,
  );
  assert.ok(squares.length <= 49);
  assert.equal(squares.at(-1).shade, 2);
});

test('kinds with one server each do not make a square each', () => {
  const kinds = Array.from({ length: 900 }, (_, i) => ({ servers: 1, gpu: i < 600 ? 8 : 2, cpu: 64 }));
  const squares = tiles({ servers: 900, kinds });
  assert.ok(squares.length <= 51, `${squares.length} squares`);
  assert.equal(
    squares.reduce((sum, { servers }) => sum + servers, 0),
    900,
  );
});

test('a card says how many jobs its scheduler can run, and why not all', () => {
  const fit = { jobs: 80, schedulers: { fifo: 80, drf: 60, pd_ors: 0 }, reasons: { drf: '20 lack epochs.' } };
  assert.deepEqual(verdict('fifo', fit), ['All 80 jobs pass the check', 'good']);
  assert.deepEqual(verdict('drf', fit), ['60 of 80 jobs pass the check. 20 lack epochs.', '']);
  assert.deepEqual(verdict('pd_ors', fit), ['No job passes the check.', 'bad']);
  assert.deepEqual(verdict('fifo', null), ['', '']);
});

test('the time of earlier runs is said for those that have any', () => {
  const chosen = ['FIFO', 'DRF'].map((title) => ({ title, name: title.toLowerCase() }));
  assert.equal(
    timeText(chosen, { fifo: { runs: 1, least_s: 2, most_s: 2 } }),
    'Earlier runs of about this size took 2 s with FIFO (1 run); none with the other one.',
  );
  assert.equal(timeText(chosen, {}), 'No earlier run of about this size gives an estimate of the time.');
});

test('jobs that all arrive at one time are not said to arrive over 0 ms', () => {
  assert.equal(arrivalsText(0), 'all arrive at once');
  assert.equal(arrivalsText(3_600_000), 'arrivals over 1h');
});
