// An unknown CSV: which column is likely what.

import assert from 'node:assert/strict';
import test from 'node:test';

import { cells, guess, lacking, separator } from '../../static/js/traces/column-mapping.js';

test('common names are recognised, each column once', () => {
  const found = guess(
    ['Job Name', 'submit_time', 'duration', 'num_gpu', 'queue', 'time'],
    ['j1', '2026-01-01 00:00:00'],
  );
  assert.deepEqual(found, {
    id: 'Job Name',
    arrival: 'submit_time',
    run: 'duration',
    gpus: 'num_gpu',
    group: 'queue',
    arrival_unit: 'datetime',
  });
});

test('the start of a job is distinguished from its submission', () => {
  const found = guess(['id', 'submit', 'start', 'end'], ['1', '0', '50', '60']);
  assert.deepEqual(found, { id: 'id', arrival: 'submit', start: 'start', end: 'end' });
  assert.deepEqual(guess(['SubmitTime', 'start_time', 'end_time']), {
    arrival: 'SubmitTime',
    start: 'start_time',
    end: 'end_time',
  });
});

test('what nobody can guess is left open', () => {
  assert.deepEqual(guess(['x', 'y']), {});
  assert.deepEqual(lacking({}), {
    arrival: 'Select the column of the arrival.',
    run: 'Select a column for the run time or the end.',
  });
  assert.deepEqual(lacking({ arrival: 'x', end: 'y' }), {});
});

test('a line is cut into cells; a quoted cell may hold the mark', () => {
  assert.equal(separator('a;b;c,d'), ';');
  assert.deepEqual(cells('1,"a, ""b""",,x', ','), ['1', 'a, "b"', '', 'x']);
  assert.deepEqual(cells('1;2;', ';'), ['1', '2', '']);
  assert.deepEqual(cells('', ','), ['']);
});
