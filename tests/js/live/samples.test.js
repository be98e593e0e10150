// The use of servers beside what is allocated: shares over time, the sentence below the chart, and tiles of a server.

import assert from 'node:assert/strict';
import test from 'node:test';

import { frame } from '../builders.js';
import { needsPage, open } from '../dom.js';
import { Store } from '../../../static/js/core/store.js';
import { samplesMessage, samplesText } from '../../../static/js/live/condition.js';
import { presentOf, sampleTiles } from '../../../static/js/run/metrics/sample-tiles.js';
import { sampledNote, usedShares } from '../../../static/js/charts/use/allocated-used.js';

const MINUTE = 60_000;
const info = { cluster: { servers: [{ site: 'edge' }, { site: 'edge' }, { site: 'cloud' }] } };

/** Sums of a site: GPUs 1 of 4 in use, CPUs unknown, memory 8 of 16, GPUs busy 0.5 of 4. */
function sums(at, site, changes = {}) {
  const row = {
    ...{ at, until: at + 3 * MINUTE, site, servers: 2, gpu: 1000, cpu: 0, memory: 8000, busy: 500 },
    ...{ gpuOf: 4000, cpuOf: 0, memoryOf: 16_000, busyOf: 4000 },
    ...changes,
  };
  return Object.values(row);
}

function storeOf(...rows) {
  const store = new Store();
  const events = rows.map(([at, ...use], i) => [i + 1, at, 'sampled', { use, rows: [] }]);
  if (events.length) store.feed(frame(events));
  return store;
}

test('the share used is the sum over the capacity of the servers that report it', () => {
  const store = storeOf([0, sums(0, 0)]);
  const shares = usedShares(store, MINUTE, 0, MINUTE, 1);
  assert.deepEqual(Object.fromEntries(Object.entries(shares).map(([key, [share]]) => [key, share])), {
    used00: 0.25,
    used02: 0.5,
    busy0: 0.125,
  });
});

test('a sum counts until the next one of its site, and at most three intervals', () => {
  const store = storeOf([0, sums(0, 0)], [MINUTE, sums(MINUTE, 0, { gpu: 3000 })], [MINUTE, sums(MINUTE, 1)]);
  const shares = usedShares(store, 10 * MINUTE, 0, MINUTE, 6);
  assert.deepEqual([...shares.used00], [0.25, 0.75, 0.75, 0.75, NaN, NaN]);
  assert.deepEqual([...shares.used10], [NaN, 0.25, 0.25, 0.25, NaN, NaN]);
});

test('nothing that was sampled after the time shown is shown', () => {
  const store = storeOf([0, sums(0, 0)], [MINUTE, sums(MINUTE, 0, { gpu: 3000 })]);
  const shares = usedShares(store, MINUTE - 1, 0, MINUTE, 2);
  assert.deepEqual([...shares.used00], [0.25, NaN]);
  assert.deepEqual([...usedShares(store, MINUTE, MINUTE, 1, 1).used00], [0.75]);
});

test('the note counts the servers with samples at the time shown', () => {
  assert.equal(sampledNote(storeOf(), info, 0), '');
  const store = storeOf([0, sums(0, 0), sums(0, 1, { servers: 1 })]);
  assert.equal(sampledNote(store, info, MINUTE), 'Used: samples of 3 of 3 servers at the time shown.');
  assert.equal(sampledNote(store, info, 4 * MINUTE), 'Used: samples of 0 of 3 servers at the time shown.');
});

test('the line of a cluster states the age of its samples, and what is missing in them', () => {
  assert.equal(samplesText({ samples: {} }, 0), '');
  assert.equal(
    samplesText({ samples: { sampler: 'sstat', state: 'starting', age_ms: null } }, 0),
    'waiting for samples',
  );
  const samples = { sampler: 'prometheus', state: 'sampling', age_ms: 39_000, nodes: 12, message: '' };
  assert.equal(samplesText({ samples }, 1000), 'samples of 12 nodes, 40 s old');
  assert.equal(samplesMessage({ samples }), '');
  const message = 'Prometheus http://p:9090: it refuses the request (401); give token_from';
  assert.equal(samplesMessage({ samples: { ...samples, message } }), `Samples: ${message}.`);
});

test('the age of a sample grows while the log of a cluster stands still', () => {
  const status = { mode: 'mirror', status: 'running', server_wall_ms: 900_000, clock: { wall_ms: 300_000 } };
  const present = presentOf(status, Date.now() - 5000);
  assert.ok(present >= 605_000 && present < 606_000);
  assert.equal(presentOf({ ...status, status: 'finished' }, 0), null);
  assert.equal(presentOf({ ...status, mode: 'live' }, 0), null);
  assert.equal(presentOf(null, 0), null);
});

test('a sample is of the capacity that the server had then', needsPage, () => {
  open();
  const newest = { length: 1, at_ms: [MINUTE], gpu: [4000], cpu: [-1], memory: [-1], gpu_busy: [-1] };
  const server = { capacity: [2000, 0, 0, 0, 0], was: [[2 * MINUTE, [4000, 0, 0, 0, 0]]] };
  const known = { cluster: { servers: [server] }, names: ['GPU'], units: ['GPU'] };
  const used = (at) => sampleTiles({ samples: { newest: { ...newest, at_ms: [at] } } }, known, 0, 3 * MINUTE)[0];
  assert.match(used(MINUTE).textContent, /4 of 4$/);
  assert.match(used(2 * MINUTE).textContent, /4 of 2$/);
});
