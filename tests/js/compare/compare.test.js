import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accountText,
  lateText,
  nothingText,
  address,
  addressOf,
  changeText,
  deltaText,
  inFull,
  leading,
  masks,
  KIND_COLORS,
  NOT_COMPARED,
  place,
  relativeText,
  runsOf,
  withBase,
} from '../../../static/js/compare/comparison.js';
import { logTicks, shareAt, wide } from '../../../static/js/charts/parts/quantile-curve.js';
import { comparedCell } from '../../../static/js/compare/metrics-table.js';
import { h } from '../../../static/js/ui/dom.js';
import { tableOf, valueText } from '../../../static/js/core/metric-table.js';
import { needsPage, open, recorded } from '../dom.js';

const BITS = { shifted: 1, moved: 2, not_rejected: 4, rejected: 8, preempted: 16 };
const HOUR = 3_600_000;

test('kinds of difference have other colours than two runs, and each its own', () => {
  const colors = Object.values(KIND_COLORS);
  assert.equal(new Set(colors).size, Object.keys(BITS).length);
  assert.ok(colors.every((position) => position > 1));
});

test('the address names runs once, in order, and nothing else', () => {
  assert.deepEqual(runsOf('3, 5,x,5,-1,07'), [3, 5, 7]);
  assert.deepEqual(runsOf(null), []);
  assert.equal(address([3, 5], { race: 2 }), '/compare/?runs=3,5&race=2');
});

test('other runs keep the view of the page, but not what it said of a run that is gone or first now', () => {
  const view = '?runs=1,2,3&by=size&rows=servers&page=4&against=3';
  assert.equal(addressOf([2, 1, 3], view), '/compare/?runs=2,1,3&by=size&rows=servers&against=3');
  assert.equal(addressOf([3, 1, 2], view), '/compare/?runs=3,1,2&by=size&rows=servers');
  assert.equal(addressOf([1, 2], view), '/compare/?runs=1,2&by=size&rows=servers');
});

test('a run becomes the base, or takes the last place among those compared in full', () => {
  assert.deepEqual(withBase([1, 2, 3], 3), [3, 1, 2]);
  assert.deepEqual(inFull([1, 2, 3, 4, 5], 5, 3), [1, 2, 5, 3, 4]);
});

test('values and deltas carry their unit and their sign', () => {
  assert.equal(valueText(2 * HOUR + 300_000, 'ms'), '2h 5m');
  assert.equal(valueText(0.753, 'share'), '75.3 %');
  assert.equal(valueText(1.254, 'x'), '1.25 ×');
  assert.equal(valueText(null, 'ms'), '–');
  assert.equal(deltaText(-HOUR, 'ms'), '−1h');
  assert.equal(deltaText(0.032, 'share'), '+3.2 points');
  assert.equal(deltaText(0.01, 'share'), '+1 point');
  assert.equal(deltaText(0, 'ms'), '±0');
  assert.equal(deltaText(null, ''), '');
  assert.equal(deltaText(0.001, ''), '≈ 0');
  assert.equal(deltaText(0.002, 'x'), '≈ 0');
  assert.equal(relativeText(-0.123), '−12 %');
  assert.equal(relativeText(0.05), '+5 %');
  assert.deepEqual([-0.9981, -0.99999, -1].map(relativeText), ['−99.8 %', '−99.9 %', '−100 %']);
  assert.equal(relativeText(null), '');
  assert.equal(relativeText(0.0004), '');
});

test('a missing value has its reason below it', needsPage, () => {
  open();
  const cell = { value: null, delta: null, relative: null, verdict: null, why: 'certificate not computed yet' };
  const text = h('td', {}, comparedCell(cell, 'share', { isBase: false, best: '' })).textContent;
  assert.equal(text, '–certificate not computed yet');
});

test('a proved share is rounded down, with the digits of the run page', needsPage, () => {
  open();
  const shown = (cell) =>
    h('td', {}, comparedCell(cell, 'share', { isBase: true, best: '' })).querySelector('span').textContent;
  assert.equal(shown({ value: 0.9999, about: 'total utility' }), '99.99 %', 'not “100.0 %”: that is not proved');
  assert.equal(shown({ value: 0.53379, about: 'total utility' }), '53.37 %');
  assert.equal(shown({ value: null, about: 'makespan' }), '–');
  assert.equal(shown({ value: 0.9999, about: null }), '100.0 %', 'an allocated share is rounded');
});

test('every job of the two runs is accounted for', () => {
  const accounts = { total: 240, equal: 118, differ: 120, only_base: 2, only_other: 0, not_in_all: 0 };
  assert.equal(
    accountText({ at_ms: 3_600_000, accounts }, 4, 7),
    '240 jobs arrived by 01:00:00: ' +
      '118 equal, 120 different, 2 only in run 4, 0 only in run 7. A job can differ in several ways. ' +
      'Its state, start, finish, preemptions and the servers of its workers are compared, ' +
      'not how many workers it has nor where its parameter servers are.',
  );
  const more = { ...accounts, total: 241, not_in_all: 1 };
  assert.match(
    accountText({ at_ms: null, accounts: more }, 4, 7),
    /^241 jobs arrived: .*, 1 missing in at least one other run/,
  );
  const same = { late: '', sameTrace: true };
  const none = { equal: 0, differ: 0, only_base: 0, only_other: 0 };
  assert.match(nothingText({ ...none, equal: 3 }, same)[1], /^All arrived jobs are treated alike/);
  assert.match(nothingText({ ...none, equal: 3, only_base: 1 }, same)[1], /^The jobs that have arrived in both runs/);
  const apart = { ...none, only_base: 3, only_other: 10 };
  assert.deepEqual(nothingText(apart, same), [
    'No common jobs',
    'No job has arrived in both runs, so none is compared.',
  ]);
  assert.match(nothingText(apart, { ...same, sameTrace: false })[1], /Jobs of different traces are different jobs/);
});

test('a cut that begins after the time compared is named, and not taken for one without common jobs', () => {
  const runs = [
    { id: 4, from_ms: 0 },
    { id: 7, from_ms: 7_241_000 },
  ];
  const late = lateText(runs, 7_190_000);
  assert.equal(
    late,
    'Run 7 begins at 02:00:41. The runs are compared up to 01:59:50, so there is nothing to compare yet.',
  );
  assert.deepEqual(nothingText({ equal: 0, only_base: 3, only_other: 0 }, { late, sameTrace: true }), [
    'Not started',
    late,
  ]);
  assert.equal(lateText(runs, 7_241_000), '');
  assert.equal(lateText(runs, null), '');
});

test('an admission against a rejection colours a job before a shift does', () => {
  assert.equal(leading(1 | 2, BITS), 'moved');
  assert.equal(leading(1 | 4, BITS), 'not_rejected');
  assert.equal(leading(0, BITS), null);
});

test('the base gets the kinds of the run it is compared with, job by job', () => {
  const columns = {
    run_1: new Uint8Array(3),
    run_2: Uint8Array.of(9, 4, 1),
    shared_1: Int32Array.of(0, 2),
    shared_2: Int32Array.of(1, 2),
  };
  assert.deepEqual([...masks(columns, 1, 2).base], [4, NOT_COMPARED, 1]);
  assert.deepEqual([...masks(columns, 1, 2).other], [9, 4, 1]);
  const strange = { ...columns, run_2: new Uint8Array(3).fill(NOT_COMPARED), shared_2: new Int32Array(0) };
  assert.deepEqual([...masks(strange, 1, 2).base], [NOT_COMPARED, NOT_COMPARED, NOT_COMPARED]);
});

test('the share below a value is read off the quantiles', () => {
  const values = [10, 20, 40];
  assert.deepEqual(
    [5, 10, 15, 20, 30, 40, 99].map((x) => shareAt(values, x)),
    [0, 0, 0.25, 0.5, 0.75, 1, 1],
  );
  assert.equal(shareAt([], 3), null);
  assert.equal(shareAt([7, 7, 7], 7), 1);
});

test('an axis is logarithmic when the tail is long', () => {
  const curve = (low, high) => ({ values: Array.from({ length: 101 }, (_, i) => (i < 100 ? low : high)) });
  assert.equal(wide([curve(1, 10)]), false);
  assert.equal(wide([curve(1, 10), curve(2, 100)]), true);
  assert.equal(wide([{ values: [] }]), false);
});

test('a bar is placed in per cent of the span and never too thin to see', () => {
  assert.deepEqual(place(25, 75, [0, 100]), [25, 50]);
  assert.deepEqual(place(50, 50, [0, 100]), [50, 0.6]);
  assert.equal(place(null, 75, [0, 100]), null);
});

test('a logarithmic axis of time has round ticks, and not too many', () => {
  assert.deepEqual(logTicks(HOUR / 2, 6 * HOUR), [HOUR / 2, HOUR, 2 * HOUR, 5 * HOUR]);
  assert.ok(logTicks(1, 1e12).length <= 6);
  assert.deepEqual(logTicks(0.9, 60, 'x'), [1, 2, 5, 10, 20, 50]);
  assert.ok(logTicks(0.001, 1e6, 'x').length <= 6);
});

test('a change is shown only where there is one, and where the two can be ranked', () => {
  const cell = { value: 2, delta: 1, relative: 1, verdict: 'better', ranked: true };
  assert.equal(changeText(cell, ''), '+1, +100 % better');
  assert.equal(changeText({ ...cell, delta: 1e-12, relative: 1e-12, verdict: 'same' }, ''), 'same');
  assert.equal(changeText({ ...cell, value: 1e6, delta: 1, relative: 1e-6 }, 'ms'), '+1 ms better');
  assert.equal(changeText({ ...cell, delta: null, relative: null, verdict: null, ranked: false }, ''), 'not ranked');
  assert.equal(changeText({ value: null, delta: null, relative: null, verdict: null, ranked: true }, ''), '');
});

test('a job that was rejected later has the end of its work, not “open”', needsPage, async () => {
  open();
  const { state } = await import('../../../static/js/compare/differences.js');
  const times = (job) => state({ start_ms: HOUR, finish_ms: null, ...job }, false)[1].textContent;
  assert.equal(times({ state: 'rejected', stopped_ms: 2 * HOUR }), '01:00:00 – 02:00:00');
  assert.equal(times({ state: 'suspended', stopped_ms: null }), '01:00:00 – open');
});

test('differences of metrics of jobs have the titles and definitions of the table of metrics', needsPage, async () => {
  open();
  const { columnsOf } = await import('../../../static/js/compare/differences.js');
  const metrics = tableOf(await recorded('/api/metrics/').json());
  const columns = columnsOf(3, 5, () => [0, 1], { anyEnd: new Set(), metrics });
  for (const [key, name] of [
    ['jct', 'jct_ms'],
    ['utility', 'utility'],
  ]) {
    const { title, hint } = columns.find((column) => column.key === key);
    const { title: wanted, definition } = metrics.get(name);
    assert.deepEqual([title, hint], [wanted, `${definition} Run 5 minus run 3.`]);
  }
});

test('a job of a real cluster has ended in a comparison, a simulated one is completed', needsPage, async () => {
  open();
  const { state } = await import('../../../static/js/compare/differences.js');
  const job = { state: 'completed', start_ms: 0, finish_ms: HOUR, stopped_ms: null };
  assert.deepEqual(
    [true, false].map((real) => state(job, real)[0].textContent),
    ['ended', 'completed'],
  );
});
