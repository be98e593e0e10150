// Clusters by rows of count x type x site.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  alike,
  clusterOf,
  gpusOverTime,
  placeOf,
  problems,
  sums,
} from '../../../static/js/scenarios/cluster-builder.js';

const capacity = { gpu: 4, cpu: 32, memory: 256, storage: 1000, bandwidth: 25 };
const row = (changes) => ({ count: 2, type: 'v100', site: 'edge', roles: ['worker', 'ps'], capacity, ...changes });
const cluster = (...rows) => ({ name: 'c', slot_ms: 60_000, horizon_slots: undefined, rows });

test('rows become servers with names of their own', () => {
  const made = clusterOf(cluster(row(), row({ count: 10, type: 'big', site: 'cloud', roles: ['ps'] })));
  assert.equal(made.servers.length, 12);
  assert.deepEqual(made.servers[0], { name: 'v100-1', site: 'edge', roles: ['worker', 'ps'], capacity });
  assert.deepEqual([made.servers[2].name, made.servers[11].name, made.horizon_slots], ['big-01', 'big-10', null]);
  assert.deepEqual(
    alike(made.servers).map(({ count, first, last }) => [count, first, last]),
    [
      [10, 'big-01', 'big-10'],
      [2, 'v100-1', 'v100-2'],
    ],
  );
});

test('the sums go by site', () => {
  const found = sums([row(), row({ type: 'b' }), row({ type: 'c', site: 'cloud', count: 3 })]);
  assert.deepEqual(
    found.map(({ site, servers, gpu, memory }) => [site, servers, gpu, memory]),
    [
      ['edge', 4, 16, 1024],
      ['cloud', 3, 12, 768],
    ],
  );
});

test('an error is shown beside its field', () => {
  const wrong = problems({
    ...cluster(
      row({ count: 0.5 }),
      row({ type: 'a b', roles: [], capacity: { ...capacity, gpu: -1, cpu: 0.0005 } }),
      row(),
    ),
    name: ' ',
    slot_ms: NaN,
  });
  assert.deepEqual(
    wrong.map(([at, field]) => [at, field]),
    [
      [null, 'name'],
      [null, 'slot'],
      [0, 'count'],
      [1, 'type'],
      [1, 'roles'],
      [1, 'gpu'],
      [1, 'cpu'],
      [2, 'type'],
    ],
  );
  assert.deepEqual(problems(cluster(row())), []);
  assert.match(
    problems(cluster(row({ count: 20_001 })))[0][2],
    /creates at most 20,000 servers, not 20,001; for more, import a list/,
  );
});

test("the server's refusal finds its field", () => {
  const rows = [row(), row({ type: 'a-1' })];
  assert.deepEqual(placeOf('server a-1-2: capacity.gpu must be a number', rows), [1, 'gpu']);
  assert.deepEqual(placeOf('cluster c: horizon_slots must be null', rows), [null, 'horizon']);
});

test('servers that differ only in their network are one kind', () => {
  const servers = [20, 50, 30].map((bandwidth, i) => ({
    name: `n${i}`,
    site: 'edge',
    roles: ['worker'],
    capacity: { gpu: 8, bandwidth },
    away: i ? [[0, 1]] : undefined,
  }));
  assert.deepEqual(
    alike(servers).map(({ count, gbps, away }) => [count, gbps, away]),
    [[3, [20, 50], 2]],
  );
});

test('GPUs over time fall while servers are away', () => {
  const servers = [
    { capacity: { gpu: 8 } },
    {
      capacity: { gpu: 4 },
      away: [
        [0, 10],
        [20, 30],
      ],
    },
  ];
  assert.deepEqual(gpusOverTime(servers), [
    [0, 8],
    [10, 12],
    [20, 8],
    [30, 12],
  ]);
  assert.deepEqual(gpusOverTime([{ capacity: { gpu: 8 } }]), [[0, 8]]);
});
