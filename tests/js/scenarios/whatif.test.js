import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { effectWords } from '../../../static/js/scenarios/edits/edit-list.js';
import { changesText, displacedText, parseChanges } from '../../../static/js/run/ask.js';
import { changesOf, choicesOf, valueOf } from '../../../static/js/run/ask-fields.js';
import { Family, obstacle, successor } from '../../../static/js/run/forks.js';
import { offered } from '../../../static/js/charts/use/allocation.js';
import { History } from '../../../static/js/scenarios/edits/undo-history.js';
import { momentText, parseTime, timeProblem, timeText } from '../../../static/js/util/time-text.js';
import { cells, confidence, editFieldTitle, named, parseValues } from '../../../static/js/scenarios/sweep-axes.js';

test('times are read as people type them, and written so that they are read back', () => {
  const H = 3_600_000;
  for (const [text, ms] of [
    ['0', 0],
    ['2d 03:15', 51.25 * H],
    ['03:15:20.5', 3.25 * H + 20_500],
    ['90 min', 1.5 * H],
    ['1.5 h', 1.5 * H],
    ['3h 58m', 3 * H + 58 * 60_000],
    ['2 d 4 h', 52 * H],
    ['250 ms', 250],
    ['26:00', 26 * H],
  ])
    assert.equal(parseTime(text), ms, text);
  for (const text of ['', 'soon', '3', '1:2:3', '4 weeks', '-1 h']) assert.equal(parseTime(text), null, text);
  for (const text of ['104249992d', '1e400', '9'.repeat(400) + 'd']) assert.equal(parseTime(text), null, text);
  assert.match(timeProblem('104249992d'), /^“104249992d” is too large; the largest time is 104249991d /);
  for (const ms of [0, 1, 999, 1000, 61_001, 51.25 * H, 100 * 24 * H + 7]) assert.equal(parseTime(timeText(ms)), ms);
});

test('undo and redo go back and forth; a change drops what was undone', () => {
  let changes = 0;
  const history = new History([], () => changes++);
  history.change([1]);
  history.change([1, 2]);
  history.undo();
  assert.deepEqual(history.value, [1]);
  history.redo();
  assert.deepEqual(history.value, [1, 2]);
  history.undo();
  history.change([3]);
  history.redo();
  assert.deepEqual([history.value, changes], [[3], 6]);
});

test('what edits do, in words', () => {
  assert.deepEqual(
    effectWords({ servers: 2, capacity: { gpu: 0.12, cpu: 0.12, memory: 0.12, storage: 0.12, bandwidth: 0.12 } }),
    ['+2 servers', 'capacity +12 %'],
  );
  assert.deepEqual(effectWords({ capacity: { gpu: -0.05 }, jobs_touched: 3, jobs_added: 1 }), [
    'GPU −5.0 %',
    '1 job added',
    '3 jobs changed',
  ]);
  assert.deepEqual(effectWords({ away: 1, cloud: false, scheduler: 'fifo' }), [
    '1 server unavailable',
    'unlimited cloud off',
    'scheduler fifo',
  ]);
  assert.deepEqual(
    effectWords({ scheduler: 'easy' }, () => 'EASY backfilling'),
    ['scheduler EASY backfilling'],
  );
});

test('the confidence of a mean over seeds', () => {
  assert.deepEqual(confidence([]), { mean: null, half: null, count: 0 });
  assert.deepEqual(confidence([3]), { mean: 3, half: null, count: 1 });
  const { mean, half } = confidence([1, 2, 3, 4]);
  assert.equal(mean, 2.5);
  assert.ok(Math.abs(half - (3.182446 * Math.sqrt(5 / 3)) / 2) < 1e-9, String(half));
  // with a deviation of 68.16 between four seeds: 3.182446 x 68.16 / 2 = 108.457
  const spread = confidence([-3, -1, 1, 3].map((x) => (x * 68.16) / Math.sqrt(20 / 3))).half;
  assert.equal(spread.toFixed(2), '108.46');
  const grid = cells(
    [
      { place: [0, 1], figures: { x: 2 } },
      { place: [0, 1], figures: { x: 4 } },
      { place: [1, 0], figures: {} },
    ],
    'x',
  );
  assert.deepEqual([grid.get('0,1').mean, grid.get('1,0').mean], [3, null]);
});

test('the values of an axis', () => {
  assert.deepEqual(parseValues('1, 2, marginal'), [1, 2, 'marginal']);
  assert.deepEqual(parseValues('0.1..0.5 by 0.2'), [0.1, 0.3, 0.5]);
  assert.deepEqual(parseValues('1..8 times 2'), [1, 2, 4, 8]);
  assert.throws(() => parseValues('5..1 by 1'), /a range must rise/);
  assert.throws(() => parseValues(' '), /Enter values such as/);
});

test('a server that was resized offers what it had at the time', () => {
  const server = {
    site: 'edge',
    capacity: [4000, 0, 0, 0, 0],
    was: [
      [10, [1000, 0, 0, 0, 0]],
      [20, [2000, 0, 0, 0, 0]],
    ],
    away: [[25, 30]],
    away_was: [[15, []]],
  };
  const at = (p) => [...offered([server], p, 0, 5, 8)[0].slice(0, 8)];
  assert.deepEqual(at(40), [1000, 1000, 2000, 2000, 4000, 0, 4000, 4000]);
  assert.deepEqual(at(15), [1000, 1000, 2000, 2000, 2000, 0, 2000, 2000], 'as known before the last resize');
  assert.deepEqual(at(0), Array(8).fill(1000), 'as known before any edit');
});

test('an axis in ms is read as a length of time', () => {
  const axis = named({ edit: 1, field: 'for_ms' }, 'Duration of edit 1 (Fail servers)');
  assert.deepEqual([axis.title, axis.text(3_600_000)], ['Duration of edit 1 (Fail servers)', '1h']);
  assert.equal(named({ edit: 1, field: 'at_ms' }, 'at_ms').text(95_400_000), '1d 02:30:00', 'a moment, to the second');
  const other = named({ parameter: 'floor_scale' }, 'floor_scale');
  assert.deepEqual([other.title, other.text(0.5)], ['floor scale', '0.5']);
});

test('a field of an edit is a label with its unit', () => {
  const verbs = [
    { name: 'fail_servers', title: 'Fail servers', parameters: [{ name: 'for_ms', title: 'Duration', unit: 'ms' }] },
  ];
  const label = (field) => editFieldTitle(verbs, 'fail_servers', 2, field);
  assert.equal(label('at_ms'), 'Time of edit 2 (Fail servers), ms');
  assert.equal(label('for_ms'), 'Duration of edit 2 (Fail servers), ms');
  assert.equal(label('strange'), 'strange of edit 2 (Fail servers)', 'a field that is not declared');
});

test('what a job would do to others separates rejections from delays', () => {
  const none = { later: 0, later_ms: 0, open: 0, rejected: 0 };
  const until = '01:00:00';
  assert.equal(displacedText(none, until), 'No other job would be rejected or finish later');
  assert.equal(displacedText({ ...none, rejected: 2 }, until), '2 other jobs would be rejected');
  assert.equal(
    displacedText({ later: 3, later_ms: 60_000, open: 1, rejected: 1 }, until),
    '1 other job would be rejected; ' +
      '1 other job would not finish by 01:00:00; 3 other jobs would finish later, by 1m in total',
  );
});

test('the reason why a fork cannot be promoted is shown', () => {
  const own = { id: 5, mode: 'batch', status: 'finished', wanted: 'running' };
  const parent = { id: 4, mode: 'live', status: 'running', wanted: 'running' };
  const rule = 'and a fork can only replace an active live run.';
  assert.equal(obstacle(own, parent), '');
  for (const [of, why] of [
    [{ ...parent, status: 'finished' }, `cannot be promoted: run 4 is finished, ${rule}`],
    [{ ...parent, wanted: 'cancelled' }, `cannot be promoted: run 4 is cancelled, ${rule}`],
    [{ ...parent, mode: 'batch' }, `cannot be promoted: run 4 is not live, ${rule}`],
    [undefined, 'cannot be promoted: the run that it was forked from has been deleted, so there is none to replace.'],
  ])
    assert.equal(obstacle(own, of), `This fork ${why}`);
  const live = { ...own, mode: 'live', status: 'running' };
  assert.equal(
    obstacle(live, { ...parent, status: 'cancelled' }),
    'This fork need not be promoted: it is live already.',
  );
  assert.equal(
    obstacle(live, parent),
    'This fork need not be promoted: it is live already; to keep only this one, cancel run 4.',
  );
});

test('a family changes by a new fork, by another state and by a deletion, and by nothing else', () => {
  const family = new Family(null, 4, { operator: true, onError: assert.fail });
  family.rows = [
    { id: 4, status: 'running', wanted: 'running' },
    { id: 5, status: 'queued', wanted: 'running' },
  ];
  const run = { id: 5, parent: 4, status: 'queued', wanted: 'running' };
  for (const [message, concerned] of [
    [{ type: 'run', run }, false],
    [{ type: 'run', run: { ...run, status: 'running' } }, true],
    [{ type: 'run', run: { ...run, wanted: 'cancelled' } }, true],
    [{ type: 'run', run: { ...run, id: 9 } }, true],
    [{ type: 'run', run: { ...run, id: 9, parent: 5 } }, true],
    [{ type: 'run', run: { ...run, id: 9, parent: 8 } }, false],
    [{ type: 'run', run: { ...run, id: 9, parent: null } }, false],
    [{ type: 'deleted', id: 5 }, true],
    [{ type: 'deleted', id: 9 }, false],
    [{ type: 'trace', trace: { id: 5 } }, false],
  ])
    assert.equal(family.concerns(message), concerned, JSON.stringify(message));
});

test('the page of a run that was promoted over names the live run in its place', () => {
  const own = { id: 4, mode: 'live', status: 'cancelled', wanted: 'cancelled', parent: null };
  const fork = { id: 5, mode: 'batch', status: 'finished', wanted: 'running', parent: 4 };
  const made = { id: 6, mode: 'live', status: 'running', wanted: 'running', parent: 4 };
  assert.equal(successor(own, [own, fork, made]).id, 6);
  assert.equal(successor(own, [own, fork]), undefined);
  assert.equal(successor({ ...own, status: 'running', wanted: 'running' }, [own, fork, made]), undefined);
});

test('changes are read line by line; the server says which field is unknown', () => {
  assert.deepEqual(parseChanges('epochs = 5\nworker: {"gpu": 1}'), { epochs: 5, worker: { gpu: 1 } });
  assert.deepEqual(parseChanges('wrkr.gpu = 500\nTop2 = x'), { 'wrkr.gpu': 500, Top2: 'x' });
  assert.throws(() => parseChanges('many epochs'), /is not a “field = value” line/);
});

test('the fields of the job to copy are offered with their units, one number at a time', () => {
  const fields = [
    { name: 'id', value: 'j1' },
    { name: 'epochs', value: 145 },
    { name: 'minibatch_ms', value: 3521.7 },
    { name: 'worker', value: { gpu: 1, memory: 19 } },
    { name: 'user', value: null },
  ];
  const [own, others] = choicesOf(fields, false);
  assert.deepEqual(
    own.map(({ title, units }) => [title, units[0][0]]),
    [
      ['GPU of a worker', 'GPUs'],
      ['Memory of a worker', 'GB'],
      ['Time per mini-batch', 's'],
      ['Training epochs', ''],
    ],
  );
  assert.ok(others.some(({ name }) => name === 'user'));
  assert.ok(!others.some(({ name }) => ['id', 'epochs', 'worker'].includes(name)));
  const [measured] = choicesOf(fields, true);
  assert.ok(measured.some(({ name, title, isNumber }) => name === 'run_ms' && title === 'Duration' && isNumber));
  const time = own.find(({ name }) => name === 'minibatch_ms');
  assert.equal(valueOf(time, '1.1', 3_600_000), 3_960_000);
  assert.throws(() => valueOf(time, 'soon', 1), /Time per mini-batch: “soon” is not a number/);
  assert.throws(() => valueOf(time, ' ', 1), /enter a value/);
  assert.deepEqual(valueOf({ title: 'Upload times', isNumber: false }, '[1, 2]', 1), [1, 2]);
  const pairs = [
    ['worker.gpu', 2],
    ['worker.memory', 8],
    ['epochs', 5],
  ];
  assert.deepEqual(changesOf(pairs.slice(0, 1), fields), { worker: { gpu: 2, memory: 19 } });
  assert.deepEqual(changesOf(pairs, fields), { worker: { gpu: 2, memory: 8 }, epochs: 5 });
});

test('the answer of a preview states the changes with their titles and units', () => {
  const changes = parseChanges('epochs = 5\nminibatch_ms = 90000\nworker = {"gpu": 1, "memory": 8}\nrun_ms = 3600000');
  assert.equal(
    changesText(changes),
    ' with training epochs 5, time per mini-batch 1m 30s, resources of a worker 1 GPU, 8 GB memory, duration 1h',
  );
  assert.equal(changesText({}), '');
});

test('a moment reads alike in messages of the server, in fields and on pages', () => {
  const pinned = JSON.parse(readFileSync(new URL('../../fixtures/moments.json', import.meta.url)));
  for (const { ms, text } of pinned) {
    assert.equal(momentText(ms), text);
    if (ms >= 1000) assert.equal(timeText(ms), text);
    assert.equal(parseTime(text), ms);
  }
});

test('equal values have an interval of exactly 0, and thirty seeds the quantile of their number', () => {
  const value = 88.65934225614572; // three of them have a rounded sum
  assert.notEqual((value + value + value) / 3, value);
  assert.deepEqual(confidence([value, value, value]), { mean: value, half: 0, count: 3 });
  const { half } = confidence(Array.from({ length: 30 }, (_, i) => i));
  assert.ok(Math.abs(half / Math.sqrt(77.5 / 30) - 2.0452) < 1e-4, 'Student: 2.0452 for 29 degrees of freedom');
});
