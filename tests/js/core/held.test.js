// What is held of a server: each resource summed by itself, the largest share with its name, of what servers run out
// of.

import assert from 'node:assert/strict';
import test from 'node:test';

import { perPixel } from '../../../static/js/gantt/layers/occupancy.js';
import { heldBy } from '../../../static/js/core/columns/bars.js';
import { fullest } from '../../../static/js/core/held-shares.js';
import { sumOfSteps, withoutOutages } from '../../../static/js/util/capacity.js';
import { modelOf } from '../../../static/js/models/index.js';
import { Store } from '../../../static/js/core/store.js';
import { frame, plan, rowsOf } from '../builders.js';

const names = ['GPU', 'vCPU', 'memory', 'storage', 'bandwidth'];
const demands = [
  [4, 1, 0, 0, 9],
  [1, 4, 0, 0, 9],
].flat(); // of 5 each: the first job is tight in GPUs, the second in vCPUs

const phases = (...models) => models.map((model, i) => ({ from_ms: i, model }));

function info(more = {}) {
  const server = { name: 'a', site: 'edge', capacity: [5, 5, 5, 5, 5], ...more.server };
  return {
    phases: phases('slotted'),
    cluster: { cloud: false, servers: [server] },
    ids: ['x', 'y'],
    names,
    used: [true, true, false, false, false],
    worker: demands,
    ps: demands,
    ...more.info,
  };
}

/**
 * Both jobs on the server in [0, 100), the first once more in [100, 200), where the second one follows in [100, 200)
 * too.
 */
function store(slot = () => -1) {
  const made = new Store();
  const bar = (job, start, end, slot = -1) => [job, 0, 0, start, end, 1, slot, -1, -1];
  made.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'job_arrived', { job: 1 }],
      [3, 0, 'plan_changed', plan(0, 0, 200, bar(0, 0, 100, slot(0)), bar(0, 100, 200, slot(0)))],
      [4, 0, 'plan_changed', plan(1, 0, 200, bar(1, 0, 100, slot(1)))],
    ]),
  );
  return made;
}

function shares(rows, width, more = {}) {
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  return [
    ...perPixel(
      width,
      {
        bars: rows.store.bars,
        sorted: row.sorted,
        low: 0,
        high: row.length,
        measures: rows.measures(row),
        p: 0,
        from: 0,
        msPerPx: 200 / width,
        ...more,
      },
      { diff: new Float64Array(width + 2), most: new Float64Array(width) },
    ),
  ];
}

test('a server that is not overbooked is never more than full: each resource is summed by itself', () => {
  const rows = rowsOf(store(), info(), 'servers');
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  assert.deepEqual(fullest(rows.measures(row), [0, 2], 50), { name: 'GPU allocation', share: 1 });
  assert.deepEqual(fullest(rows.measures(row), [1], 150), { name: 'GPU allocation', share: 0.8 });
  assert.deepEqual(fullest(rows.measures(row), [], 250), { name: 'GPU allocation', share: 0 });
  assert.deepEqual(shares(rows, 4), [1, 1, 0.8, 0.8]);
});

test('the share of a pixel is the largest of the mean shares of the measures over that pixel', () => {
  let seed = 7;
  const random = (n) => ((seed = (seed * 16807) % 2147483647), seed % n);
  for (let round = 0; round < 300; round++) {
    const [count, width, msPerPx, from, p] = [random(9), 1 + random(12), 1 + random(9), random(40) - 20, random(30)];
    const draw = (make) => Int32Array.from({ length: count }, make);
    const bars = { job: draw(() => random(3)), start_ms: draw(() => random(90)), born_ms: draw(() => random(40)) };
    bars.end_ms = bars.start_ms.map((start) => start + 1 + random(40));
    bars.died_ms = draw(() => (random(2) ? -1 : random(60)));
    const [only, shift] = [random(2) ? [1, 0, 1] : null, random(60)];
    const measures = [2, 5].map((each) => ({
      amountOf: (bar) => each + bars.job[bar],
      capacity: [[shift, each * 3], [Infinity, each * 2]], // prettier-ignore
    }));
    const what = { bars, sorted: bars.job.map((_, i) => i), low: 0, high: count, measures, p, from, msPerPx, only };
    const buffers = { diff: new Float64Array(width + 2), most: new Float64Array(width) };
    const found = [...perPixel(width, what, buffers)];
    assert.ok(buffers.diff.every((value) => value === 0));
    found.forEach((share, x) => {
      const [begin, end] = [from + x * msPerPx, from + (x + 1) * msPerPx];
      const shares = measures.map(({ amountOf, capacity }) => {
        let held = 0;
        for (let bar = 0; bar < count; bar++) {
          if (only && !only[bars.job[bar]]) continue;
          if (bars.born_ms[bar] > p || (bars.died_ms[bar] >= 0 && bars.died_ms[bar] <= p)) continue;
          held += amountOf(bar) * Math.max(0, Math.min(end, bars.end_ms[bar]) - Math.max(begin, bars.start_ms[bar]));
        }
        return held / msPerPx / capacity[begin < shift ? 0 : 1][1];
      });
      assert.ok(Math.abs(share - Math.max(...shares)) < 1e-9, `${share} for ${shares}`);
    });
  }
});

test('what servers do not run out of is no measure', () => {
  const rows = rowsOf(store(), info({ info: { used: [false, true, false, false, false] } }), 'servers');
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  assert.deepEqual(
    rows.measures(row).map(({ name }) => name),
    ['vCPU allocation'],
  );
});

test('a server that grew is measured by what it had', () => {
  const rows = rowsOf(
    store(),
    info({ server: { capacity: [8, 8, 8, 8, 8], was: [[100, [5, 5, 5, 5, 5]]] } }),
    'servers',
  );
  assert.deepEqual(shares(rows, 2), [1, 0.5]);
});

test('workers and parameter servers are summed apart', () => {
  const rows = rowsOf(
    store((slot) => slot),
    info({ server: { lanes: [2, 60] }, info: { phases: phases('typed_workers') } }),
    'servers',
  );
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  assert.deepEqual(fullest(rows.measures(row), [0, 2], 50), { name: 'workers in use', share: 1 });
  assert.deepEqual(shares(rows, 2), [1, 0.5]);
});

test('where a run is handed from slots to workers, a bar counts as what it takes: resources or a worker', () => {
  const slotted = new Store();
  slotted.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'plan_changed', plan(0, 0, 200, [0, 0, 0, 0, 100, 1, -1, -1, -1], [0, 0, 0, 100, 200, 1, 0, -1, -1])],
    ]),
  );
  const rows = rowsOf(
    slotted,
    info({ server: { lanes: [2, 0] }, info: { phases: phases('slotted', 'typed_workers') } }),
    'servers',
  );
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  assert.deepEqual(fullest(rows.measures(row), [0], 50), { name: 'GPU allocation', share: 0.8 });
  assert.deepEqual(fullest(rows.measures(row), [1], 150), { name: 'workers in use', share: 0.5 });
});

test('rows of jobs are measured in workers, of the most at a time', () => {
  const rows = rowsOf(store(), info(), 'jobs');
  const [measure] = rows.measures(rows.list[0]);
  assert.deepEqual([measure.name, measure.capacity[0][1], measure.amountOf(0)], ['workers', 1, 1]);
});

test('the page of a server has the capacity of each time, also of a resource that it has lost', () => {
  const server = { name: 'a', site: 'edge', capacity: [0, 5, 5, 5, 5], was: [[100, [8000, 5, 5, 5, 5]]] };
  const about = { ...info({ server }), resources: ['gpu', 'cpu', 'memory', 'storage', 'bandwidth'], units: names };
  const bars = () => ({ role: [0], job: [0], count: [1], worker_slot: [-1] });
  const gpu = modelOf('slotted')
    .stacks(about.cluster.servers[0], about, bars)
    .find(({ key }) => key === 'gpu');
  assert.deepEqual(gpu.capacity, [
    [100, 8],
    [Infinity, 0],
  ]);
});

test('a row of a site is measured by what all its available servers have', () => {
  const server = (more) => ({ name: 'a', site: 'edge', capacity: [5, 5, 5, 5, 5], ...more });
  const made = info();
  made.cluster.servers = [server({ away: [[100, 150]] }), server({ name: 'b', capacity: [15, 5, 5, 5, 5] })];
  for (const order of ['sites', 'servers']) {
    const rows = rowsOf(store(), made, order);
    if (order === 'servers') rows.toggle(rows.list[0]);
    const [row] = rows.list;
    assert.equal(row.kind, 'many');
    assert.deepEqual(rows.serversOf(row).length, 2);
    assert.deepEqual(fullest(rows.measures(row), [0, 2], 50), { name: 'vCPU allocation', share: 0.5 });
    assert.deepEqual(fullest(rows.measures(row), [1], 120), { name: 'GPU allocation', share: 4 / 15 });
    assert.deepEqual(fullest(rows.measures(row), [1], 150), { name: 'GPU allocation', share: 0.2 });
  }
});

test('capacities are added over time, and an outage leaves none', () => {
  const steps = /** @type {[number, number][]} */ ([
    [100, 2],
    [Infinity, 5],
  ]);
  assert.deepEqual(sumOfSteps([steps, [[Infinity, 1]]]), [
    [100, 3],
    [Infinity, 6],
  ]);
  assert.deepEqual(withoutOutages(steps, [[50, 120]]), [
    [50, 2],
    [100, 0],
    [120, 0],
    [Infinity, 5],
  ]);
});

test('a suspended worker holds everything but its CPUs; a transfer and a typed worker nothing', () => {
  const columns = {
    role: [0, 1, 2, 3, 0],
    job: [0, 0, 0, 0, 0],
    count: [1, 2, 1, 1, 1],
    worker_slot: [-1, -1, -1, -1, 0],
  };
  const bars = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, Int32Array.from(values)]));
  const info = { worker: [1000, 2000, 3000, 0, 0], ps: [0, 500, 600, 0, 0] };
  const held = columns.role.map((_, bar) => [0, 1, 2].map((r) => heldBy(bars, bar, r, info)));
  assert.deepEqual(held, [
    [1000, 2000, 3000],
    [0, 1000, 1200],
    [0, 0, 0],
    [1000, 0, 3000],
    [0, 0, 0],
  ]);
});

test('a row is measured by its servers as known at the time shown', () => {
  const made = info({ server: { capacity: [20, 5, 5, 5, 5], was: [[100, [10, 5, 5, 5, 5]]] } });
  const known = store();
  known.edits = [[100, ['Resize a']]];
  const rows = rowsOf(known, made, 'servers');
  const [row] = rows.list.filter(({ kind }) => kind === 'server');
  const capacity = (p) => rows.measures(row, p)[0].capacity;
  assert.deepEqual(capacity(99), [[Infinity, 10]]);
  assert.deepEqual(capacity(100), [
    [100, 10],
    [Infinity, 20],
  ]);
  assert.deepEqual(capacity(99), [[Infinity, 10]], 'also when going back');
});

test('a GPU of a real cluster is held with what the job has, and a typed worker is held in place of resources', () => {
  const bars = { role: [0], job: [0], count: [1], worker_slot: [3] };
  const info = { worker: [1000, 2000, 0, 0, 0], ps: [0, 0, 0, 0, 0] };
  assert.equal(heldBy(bars, 0, 1, { ...info, slotsAreGpus: true }), 2000);
  assert.equal(heldBy(bars, 0, 1, info), 0);
});

test('a bar has the size that its job had at its start', () => {
  const bars = { role: [0, 0, 3], job: [1, 1, 1], count: [4, 1, 4], worker_slot: [-1, -1, -1], start_ms: [0, 50, 20] };
  const info = { worker: [9, 9, 9, 0, 0, 1000, 4000, 0, 0, 0], ps: [], slotsAreGpus: true };
  const known = { ...info, earlier_sizes: { 1: [[50, [1000, 1000, 0, 0, 0], 4]] } };
  const held = (bar) => [0, 1].map((r) => heldBy(bars, bar, r, known));
  assert.deepEqual(held(0), [4000, 4000], '4 GPUs and 4 CPUs');
  assert.deepEqual(held(1), [1000, 4000], '1 GPU and 4 CPUs');
  assert.deepEqual(held(2), [4000, 0], 'a suspended job frees its CPUs');
});
