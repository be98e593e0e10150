// The Gantt's layers of groups of jobs: bands, shades, regroupings, and the jobs in the table.

import assert from 'node:assert/strict';
import test from 'node:test';

import { machineUse } from '../../../static/js/gantt/layers/colocation/group-density.js';
import { GroupBands } from '../../../static/js/gantt/layers/colocation/group-bands.js';
import { JobStates } from '../../../static/js/gantt/layers/colocation/job-states.js';
import { Regroupings } from '../../../static/js/gantt/layers/colocation/regroupings.js';
import { needsPage, open } from '../dom.js';
import { canvas, info, laid, story } from './layers-scene.js';

test('the table has the jobs of groups, whose work has no bars', needsPage, () => {
  open();
  const store = story();
  const group = { group: 3, servers: [0], machines: 1, jobs: [0, 1], ready_ms: [0, 60], profiling: [false, false] };
  store.groups = [[0, 100, group], [100, 150, { ...group, jobs: [1], ready_ms: [60] }]]; // prettier-ignore
  const frame = laid(store, { view: { from: 50, to: 200 }, p: 120 });
  const [, a, b] = frame.rows.list;
  const bands = new GroupBands(store, info, () => {}, () => true); // prettier-ignore
  const short = (rows) => rows.map(([job, role, server, count, , end]) => [job, role, server, count, end !== '']);
  assert.deepEqual(short(bands.table(a, frame)), [
    ['x', 'worker in group 3', 'a', 1, true],
    ['y', 'worker in group 3', 'a', 1, false], // it goes on without x; its end is later than the time shown
  ]);
  assert.deepEqual(bands.table(b, frame), []);
  const jobs = laid(store, { order: 'jobs', view: { from: 50, to: 200 }, p: 120 });
  const states = new JobStates(store, info);
  assert.deepEqual(short(states.table(jobs.rows.list[1], jobs)), [
    ['y', 'moving in group 3', '–', 1, true],
    ['y', 'running in group 3', '–', 1, false],
  ]);
  assert.deepEqual(states.table(a, frame), [], 'a row of a server');
});

/** A store whose groups follow each other on server a, each `ms` long. */
function grouped(ms) {
  const data = { servers: [0], machines: 1, profiling: [false], ready_ms: [0], iteration_ms: null };
  const groups = Array.from({ length: 100 / ms }, (_, i) => {
    return [i * ms, (i + 1) * ms, { ...data, group: i, jobs: [i % 2], cpu_utilization: 0.5, net_utilization: 0.25 }];
  });
  return Object.assign(story(), { groups });
}

test('groups narrower than 4 px are shaded by the use of their machine, wider ones are bands', needsPage, () => {
  open();
  const bands = (ms, more) => {
    const store = grouped(ms);
    const layer = new GroupBands(store, info, () => {}, () => true); // prettier-ignore
    const { ctx, filled } = canvas();
    ctx.drawImage = () => filled.push(['image']);
    layer.paint(ctx, laid(store, more));
    return { layer, filled };
  };
  const wide = bands(5);
  assert.equal(wide.layer.shaded, 0);
  assert.equal(wide.filled.length, 40, 'a band and its line for each group');
  const narrow = bands(2);
  assert.equal(narrow.layer.shaded, 50);
  assert.deepEqual(narrow.filled, [['image']]);
  assert.notEqual(narrow.layer.signature, wide.layer.signature, 'the note below the schedule is written again');
  assert.equal(bands(2, { order: 'jobs' }).layer.shaded, 0, 'rows of jobs show no groups');
});

test('the shade of a machine is the mean of each pixel, up to the time shown', () => {
  const { groups } = grouped(2);
  const [, , data] = groups[0];
  groups[3] = [6, 8, { ...data, cpu_utilization: 0, net_utilization: 1 }];
  const use = machineUse(groups, { p: 50, from: 0, msPerPx: 4 }, 25);
  assert.deepEqual([...use.subarray(0, 3)], [0.5, 0.625, 0.5]);
  assert.deepEqual([...use.subarray(11, 14)], [0.5, 0.25, 0]);
});

test('regroupings are ticks, described with what they changed', () => {
  const store = Object.assign(story(), {
    regroupings: [
      [50, 0, 'arrival', [0.5, 0.5], [0.75, 0.5]],
      [51, 0, 'machines', [0.5, 0.5], [1, 1]],
    ],
  });
  const frame = laid(store);
  const layer = new Regroupings(store);
  const { ctx, filled } = canvas();
  layer.paintAbove(ctx, frame);
  assert.deepEqual(
    filled.map(([, x]) => x),
    [150],
    'two ticks at neighbouring pixels would be one bar',
  );
  const lines = layer.describe(layer.hit(151, frame.area.top, frame));
  assert.equal(lines[0][0], 'Regrouped after a change of machines');
  assert.deepEqual(lines.at(-1), ['', 'and 1 more at this position']);
  assert.equal(layer.hit(151, 40, frame), null);
});
