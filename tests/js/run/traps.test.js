// What the forms of what-if begin with, and what is asked before something goes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { deletionQuestion } from '../../../static/js/run/delete-run.js';
import { afterTheEnd, drainOf } from '../../../static/js/run/forks.js';

const H = 3_600_000;

test('a frame around servers is a drain in a fork at the time shown', () => {
  const { atMs, edits, sentence } = drainOf({ names: ['a', 'b'], from: 20 * H, to: 30 * H }, 10 * H);
  assert.equal(atMs, 10 * H);
  assert.deepEqual(edits, [{ verb: 'drain_servers', at_ms: 10 * H, servers: 'a b', from_ms: 20 * H, to_ms: 30 * H }]);
  assert.match(
    sentence,
    /^Drain a, b from .* continues this run from .*, the time shown; you can edit it before you run it/,
  );
});

test('the times of a live cluster and of cuts of it are in UTC', () => {
  const began = '2026-01-01T10:15:42Z';
  const { sentence } = drainOf({ names: ['a'], from: 20 * H, to: 30 * H }, 10 * H, began);
  assert.match(
    sentence,
    /^Drain a from 2026-01-02 06:15 UTC to 2026-01-02 16:15 UTC .* from 2026-01-01 20:15 UTC, the/,
  );
  assert.match(afterTheEnd(2 * H, began), /^The run ended at 2026-01-01 12:15 UTC, /);
  assert.match(afterTheEnd(2 * H, null), /^The run ended at 02:00:00, /);
});

test('what lies before the time shown is left out of it', () => {
  const { atMs, edits } = drainOf({ names: ['a'], from: 5 * H, to: 30 * H }, 10 * H);
  assert.deepEqual([atMs, edits[0].at_ms, edits[0].from_ms, edits[0].to_ms], [10 * H, 10 * H, 10 * H, 30 * H]);
});

test('a frame that lies before the time shown says that the fork begins with it', () => {
  const { atMs, edits, sentence } = drainOf({ names: ['a', 'b', 'c', 'd', 'e'], from: 0, to: 8 * H }, 10 * H);
  assert.deepEqual([atMs, edits[0].from_ms, edits[0].servers], [1, 1, 'a b c d e']);
  assert.match(sentence, /Drain a, b, c and 2 more from .*, the start of the selection;/);
});

test('before a run is deleted, the dialog lists what is deleted and what is kept', () => {
  const run = { id: 7, name: 'Philly, FIFO', events: 1234 };
  const family = [
    { id: 3, parent: null },
    { id: 7, parent: 3 },
    { id: 8, parent: 7 },
    { id: 9, parent: 7 },
    { id: 10, parent: 9 },
  ];
  assert.match(
    deletionQuestion(run, family),
    /^Delete run 7, “Philly, FIFO”\? Its log of 1,234 events will be deleted permanently/,
  );
  assert.match(deletionQuestion(run, family), /Its scenario and its forks, runs 8, 9, will be kept\.$/);
  assert.match(deletionQuestion(run, []), /Its scenario will be kept\.$/);
});
