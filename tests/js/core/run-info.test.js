// What a page knows of a real cluster while its nodes change.

import assert from 'node:assert/strict';
import test from 'node:test';

import { grow } from '../../../static/js/core/run-info.js';
import { fullest } from '../../../static/js/core/held-shares.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan, rowsOf } from '../builders.js';

const HOUR_MS = 3_600_000;

function info(server) {
  return {
    phases: [{ from_ms: 0, model: 'observed' }],
    cluster: { cloud: false, servers: [{ name: 'a', site: 'edge', ...server }] },
    ids: ['x'],
    names: ['GPU', 'vCPU', 'memory', 'storage', 'bandwidth'],
    used: [true, false, false, false, false],
    worker: [1000, 0, 0, 0, 0],
    ps: [0, 0, 0, 0, 0],
  };
}

const before = () => info({ capacity: [4000, 0, 0, 0, 0], away: [[5, 6]] });
const after = () => info({ capacity: [8000, 0, 0, 0, 0], was: [[HOUR_MS, [4000, 0, 0, 0, 0]]] });

test('a server that changes stays the same one, for charts that hold on to it', () => {
  const known = before();
  const { servers } = known.cluster;
  const [server] = servers;
  assert.equal(grow(known, after()), true);
  assert.equal(known.cluster.servers, servers);
  assert.equal(servers[0], server);
  assert.deepEqual(server, after().cluster.servers[0]);
});

test('servers that are added or move to another site need a new page', () => {
  const known = before();
  assert.equal(grow(known, info({ site: 'cloud', capacity: [4000, 0, 0, 0, 0] })), false);
  assert.deepEqual(known, before());
});

test('a row of a live cluster is measured by the capacity of then, also after the change has come', () => {
  const store = new Store();
  const bar = [0, 0, 0, 0, 2 * HOUR_MS, 4, -1, -1, -1];
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'plan_changed', plan(0, 0, 2 * HOUR_MS, bar)],
    ]),
  );
  const known = before();
  const rows = rowsOf(store, known, 'servers');
  const row = rows.list.find(({ kind }) => kind === 'server');
  const at = (t, p) => fullest(rows.measures(row, p), [0], t).share;
  assert.equal(at(0, HOUR_MS - 1), 1);
  assert.ok(grow(known, after()));
  assert.deepEqual([at(0, HOUR_MS), at(HOUR_MS, HOUR_MS)], [1, 0.5]);
  assert.deepEqual([at(0, HOUR_MS - 1), at(0, 2 * HOUR_MS)], [1, 1], 'as known at an earlier time, and again now');
  assert.equal(at(HOUR_MS, 2 * HOUR_MS), 0.5);
});
