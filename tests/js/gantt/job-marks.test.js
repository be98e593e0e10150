// The Gantt's marks in the rows of jobs: waits, and crosses where jobs were rejected.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Store } from '../../../static/js/core/store.js';
import { JobMarks } from '../../../static/js/gantt/layers/job-marks.js';
import { SuspensionLines } from '../../../static/js/gantt/layers/suspensions.js';
import { frame as fed, plan } from '../builders.js';
import { canvas, laid, story } from './layers-scene.js';

test('a row of a job has its wait, and a cross where it was rejected; all of it picks the job', () => {
  const store = story();
  const frame = laid(store, { order: 'jobs' });
  const { ctx, filled } = canvas();
  const marks = new JobMarks(store);
  marks.paint(ctx, frame);
  assert.deepEqual(
    filled.filter(([fill]) => fill === 'bad').map(([, x, , width]) => [x, width]),
    [
      [110, 10],
      [110, 1],
    ],
  );
  assert.deepEqual(marks.hit(290, 60, frame), { job: 2 });
  assert.equal(marks.hit(290, 60, laid(store)), null);
});

test('a job that was postponed and then rejected waits until its rejection, which has the cross', () => {
  const store = new Store();
  store.feed(
    fed([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 10, 'decided', { job: 0, kind: 'postponed', code: 'no_capacity' }],
      [3, 60, 'decided', { job: 0, kind: 'rejected', code: 'no_capacity' }],
    ]),
  );
  const line = (p) => {
    const { ctx, filled } = canvas();
    const crossed = [];
    ctx.moveTo = (x) => crossed.push(x);
    new JobMarks(store).paint(ctx, laid(store, { order: 'jobs', p }));
    return [filled.map(([fill, x, , width]) => [fill, x, width]), crossed];
  };
  const waiting = [
    ['muted', 100, 40],
    ['muted', 100, 1],
  ];
  assert.deepEqual(line(40), [waiting, []], 'its rejection is not known yet');
  const rejected = [
    ['bad', 100, 60],
    ['bad', 100, 1],
  ];
  assert.deepEqual(line(120), [rejected, [156, 156]], 'the strokes of a cross begin 4 px before its time');
});

test('a job that ran and was rejected has its line up to the rejection, and the cross there', () => {
  const store = new Store();
  store.feed(
    fed([
      [1, 0, 'job_arrived', { job: 0 }],
      [2, 10, 'decided', { job: 0, kind: 'started', code: 'in_order' }],
      [3, 10, 'plan_changed', plan(0, 10, 90, [0, 0, 0, 10, 90, 1, -1, -1, -1])],
      [4, 40, 'decided', { job: 0, kind: 'preempted', code: 'server_gone' }],
      [5, 40, 'plan_changed', plan(0, 10, -1)],
      [6, 60, 'decided', { job: 0, kind: 'rejected', code: 'no_capacity' }],
      [7, 150, 'run_finished', {}],
    ]),
  );
  const frame = laid(store, { order: 'jobs' });
  const marks = canvas();
  const crossed = [];
  marks.ctx.moveTo = (x) => crossed.push(x);
  new JobMarks(store).paint(marks.ctx, frame);
  assert.deepEqual(
    marks.filled.map(([fill, x, , width]) => [fill, x, width]),
    [
      ['bad', 100, 10],
      ['bad', 100, 1],
    ],
  );
  assert.deepEqual(crossed, [156, 156]);
  const lines = canvas();
  new SuspensionLines(store).paint(lines.ctx, frame);
  assert.deepEqual(
    lines.filled.map(([fill, x, , width]) => [fill, x, width]),
    [['muted', 110, 50]],
  );
});
