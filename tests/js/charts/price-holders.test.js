// "Why this price": who holds a resource at one time; the layouts of the prices.

import assert from 'node:assert/strict';
import test from 'node:test';

import { holdersOf } from '../../../static/js/core/ranges/holders.js';
import { Store } from '../../../static/js/core/store.js';
import { endsOf, placeOf, shades } from '../../../static/js/charts/layouts/heat-rows.js';
import { labelled, plotsOf, stackedAxes } from '../../../static/js/charts/layouts/small-multiples.js';
import { frame, plan } from '../builders.js';
import { needsPage, open } from '../dom.js';

const HOUR = 3_600_000;
const [WORKER, PS] = [0, 1];
const bar = (job, role, server, from, to, count) => [job, role, server, from, to, count, -1, -1, -1];

/** Two edge servers with 4 and 8 GPUs (4 from hour 5 on) and a cloud server; a worker of job 0 has 2 GPUs, of 1: 1. */
const INFO = {
  ids: ['a', 'b'],
  names: ['GPU', 'vCPU'],
  units: ['GPU', 'vCPU'],
  worker: [2000, 4000, 0, 0, 0, 1000, 1000, 0, 0, 0],
  ps: [0, 2000, 0, 0, 0, 0, 1000, 0, 0, 0],
  cluster: {
    servers: [
      { name: 'e0', site: 'edge', capacity: [4000, 8000] },
      { name: 'e1', site: 'edge', capacity: [4000, 8000], was: [[5 * HOUR, [8000, 8000]]] },
      { name: 'c0', site: 'cloud', capacity: [16000, 16000] },
    ],
  },
};

function world() {
  const store = new Store();
  store.feed(
    frame([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 0, 'job_arrived', { job: 1 }],
      [3, 0, 'plan_changed', plan(0, 0, 4 * HOUR, bar(0, WORKER, 0, 0, 4 * HOUR, 2), bar(0, PS, 1, 0, 4 * HOUR, 1))],
      [4, HOUR, 'plan_changed', plan(1, HOUR, 8 * HOUR, bar(1, WORKER, 1, HOUR, 8 * HOUR, 3))],
    ]),
  );
  return store;
}

const at = (t, r, servers = [0, 1], p = 9 * HOUR) => holdersOf(world(), INFO, { servers, r, t, p });

test('the jobs that hold a resource of a site, those with most first, and its capacity at that time', () => {
  const { capacity, held, jobs } = at(2 * HOUR, 0);
  assert.deepEqual([capacity, held], [12_000, 7000]);
  assert.deepEqual(jobs, [
    { job: 0, amount: 4000, workers: 2, ps: 0, servers: [0] },
    { job: 1, amount: 3000, workers: 3, ps: 0, servers: [1] },
  ]);
  assert.equal(at(6 * HOUR, 0).capacity, 8000); // after the edit
});

test('parameter servers hold too; a bar ends at its end; another server is not counted', () => {
  assert.deepEqual(
    at(0, 1).jobs.map(({ job, amount, workers, ps, servers }) => [job, amount, workers, ps, servers]),
    [[0, 10_000, 2, 1, [0, 1]]],
  );
  assert.deepEqual(
    at(4 * HOUR, 0).jobs.map(({ job }) => job),
    [1],
  );
  assert.deepEqual(at(2 * HOUR, 0, [2]).jobs, []);
});

test('an unavailable server has no capacity, and what jobs hold on it does not count', () => {
  const [e0, ...others] = INFO.cluster.servers;
  const info = { ...INFO, cluster: { servers: [{ ...e0, away: [[HOUR, 3 * HOUR]] }, ...others] } };
  const found = (t) => {
    const { capacity, held, jobs } = holdersOf(world(), info, { servers: [0, 1], r: 0, t, p: 9 * HOUR });
    return [capacity, held, jobs.map(({ job }) => job)];
  };
  assert.deepEqual(found(2 * HOUR), [8000, 3000, [1]]);
  assert.deepEqual(found(3 * HOUR), [12_000, 7000, [0, 1]]);
});

test('what was not planned yet at the moment does not hold anything', () => {
  assert.deepEqual(
    at(2 * HOUR, 0, [0, 1], HOUR - 1).jobs.map(({ job }) => job),
    [0],
  );
});

test('a row of the heat map is coloured from its lowest to its highest value, also on a log scale', () => {
  assert.deepEqual([...shades(Float64Array.from([1, 10, 100, NaN]), false)], [1, 24, 255, 0]);
  assert.deepEqual([...shades(Float64Array.from([1, 10, 100, NaN]), true)], [1, 128, 255, 0]);
  assert.deepEqual([...shades(Float64Array.from([5, 5]), true)], [1, 1]);
});

test('the mark of a colour bar is where the value has its colour in the row', () => {
  const ends = endsOf(Float64Array.from([1, NaN, 10, 100]));
  assert.deepEqual(ends, [1, 100]);
  assert.equal(placeOf(10, ends, true), 0.5);
  assert.equal(placeOf(50.5, ends, false), 0.5);
  assert.equal(placeOf(1000, ends, false), 1);
  assert.equal(placeOf(undefined, ends, true), null);
  assert.equal(placeOf(5, endsOf(Float64Array.from([NaN])), true), null);
});

test('small multiples: one value axis for each title, the first on top', () => {
  const curves = ['edge GPU', 'edge CPU', 'cloud GPU'].map((name) => ({ key: name, name }));
  const { of, titles } = plotsOf(curves, ({ name }) => name.split(' ')[1]);
  assert.deepEqual(titles, { y0: 'GPU', y1: 'CPU' });
  assert.deepEqual([...of.values()], ['y0', 'y1', 'y0']);
  const axes = stackedAxes(titles, { type: 'linear', ticks: { maxTicksLimit: 9 } });
  assert.deepEqual(
    Object.values(axes).map(({ stack, weight, type }) => [stack, weight, type]),
    [
      ['plots', 2, 'linear'],
      ['plots', 1, 'linear'],
    ],
  );
});

test('labels that would overlap each other or those of the next plot are left out', () => {
  const labels = (axis, values) =>
    labelled(
      axis,
      values.map((value) => ({ value })),
    ).map(({ value }) => value);
  const linear = { type: 'linear', min: 0, max: 10 };
  assert.deepEqual(labels(linear, [0, 1, 5, 9, 9.5]), [1, 5, 9]);
  assert.deepEqual(labels(linear, [6, 3, 2, 4.9]), [2, 4.9]);
  const log = { type: 'logarithmic', min: 0.01, max: 100 };
  assert.deepEqual(labels(log, [0.01, 0.1, 1, 10, 100]), [0.1, 1, 10]);
  assert.deepEqual(labels({ type: 'logarithmic', min: 0.003, max: 0.006 }, [0.0033, 0.0037, 0.0045]), [0.0033, 0.0045]);
});

test(
  'the box names the price, the share and the jobs; a job opens, and the table shows where it is',
  needsPage,
  async () => {
    open('/runs/1/', '<main><div id="box"></div></main>');
    const { PriceHolders } = await import('../../../static/js/run/panels/price-holders.js');
    const box = document.getElementById('box');
    box.scrollIntoView = () => {};
    const picked = [];
    const playhead = Object.assign(new EventTarget(), { ms: 9 * HOUR });
    const made = new PriceHolders({
      box,
      store: world(),
      info: INFO,
      playhead,
      priceAt: () => 38.25,
      onPick: (job) => picked.push(job),
    });
    made.show(2 * HOUR, 'edge', 0);
    assert.equal(box.querySelector('h3').textContent, 'Why this price: edge GPU at 02:00:00');
    assert.equal(
      box.querySelector('p').textContent,
      'Price 38.3 per GPU. 2 jobs hold 7 GPU of 12 GPU (58.3 %); the price rises with this share.',
    );
    assert.deepEqual(
      [...box.querySelectorAll('li')].map((item) => item.textContent),
      ['a4 GPU, 33.3 %', 'b3 GPU, 25.0 %'],
    );
    box.querySelector('li button').click();
    assert.deepEqual(picked, [0]);
    [...box.querySelectorAll('button')].find(({ textContent }) => textContent === 'Table').click();
    assert.deepEqual(
      [...box.querySelectorAll('tbody tr')].map((row) => row.textContent),
      ['a4 GPU33.3 %20e0', 'b3 GPU25.0 %30e1'],
    );
    made.show(8.5 * HOUR, 'e0', 0);
    assert.match(box.querySelector('p').textContent, /No job holds GPU there: all 4 GPU are free\./);
    made.close();
    assert.ok(box.hidden);
  },
);
