// The page of a comparison on recorded answers of the API, and what it has in common with that of a sweep.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, recorded, sockets, until } from '../dom.js';
import { $, $$, change, text, visit } from '../visit.js';

test('two runs compared: metrics, differences by kind, and the schedules below each other', needsPage, async () => {
  const both = `${RUNS.slotted},${RUNS.other}`;
  const { window } = await visit('compare', `/compare/?runs=${both}`, {});
  await until(
    () => $$('#metrics tbody tr').length > 3 && $('#differences table, #differences .empty'),
    'metrics and differences are shown',
  );
  assert.match(text('#differences-count'), /^1 job differs between run/);
  const bases = $$('#metrics tr').map((row) => [...row.children].map((cell) => cell.classList.contains('base')));
  assert.ok(
    bases.every((row) => row.join() === 'false,false,true,false'),
    'the baseline is pinned on a narrow page',
  );
  assert.deepEqual(speeds(), Array(6).fill(null), 'both runs have the same jobs');
  await until(() => $$('#gantts canvas').length === 2, 'both schedules are shown');
  const counts = () => text('#gantts');
  await until(() => /jobs?, \d+ bars?, ended at \d/.test(counts()), 'rows and bars are counted, and ends are stated');
  assert.equal($$('#gantts .run-mark, #against .run-mark').length, 0, 'colours are differences or jobs there');
  assert.equal($('#metrics .run-mark') !== null, true, 'and those of curves elsewhere');
  assert.equal($('#metrics table').style.getPropertyValue('--runs'), '2', 'columns of runs are equally wide');
  const heights = $$('#gantts .plot').map((plot) => plot.style.height);
  assert.ok(heights.every(Boolean), 'each plot is as high as its rows');
  const { list } = globalThis.twin.gantts;
  assert.equal(new Set(list.map(({ gantt }) => gantt.rowHeight())).size, 1, 'rows of one height');
  const [first, second] = list.map(({ store }) => store.simMs);
  assert.equal(/^One time axis/.test(globalThis.twin.gantts.note.text), first !== second);
  const { gantts } = globalThis.twin;
  Object.defineProperty(gantts, 'allShaded', { value: true, configurable: true });
  gantts.onDetail();
  await until(() => $('#kind-key').hidden, 'no bar has a colour of a difference');
  assert.ok($('#shade-key').contains($('#gantts-shade')), 'the scale of shares is in its place');
  delete gantts.allShaded;
  gantts.onDetail();
  await until(() => !$('#kind-key').hidden && $('#shade-key').hidden, 'single bars have colours again');
  $('#by-servers').click();
  assert.match(counts(), /servers?, \d+ bars?/);
  $('#by-jobs').click();
  change(window, '#row-filter', 'none such', 'input');
  await until(() => /No row matches “none such”(?!,)/.test(counts()), 'no row matches, and no bars are counted');
  assert.equal(text('#breakdown thead th'), 'Model');
  $('[data-by="site"]').click();
  assert.equal(text('#breakdown thead th'), 'Site', 'the first column is named after what the rows are');
  const row = $('#differences tbody tr');
  row.click();
  assert.equal($('#differences tbody tr').getAttribute('aria-selected'), 'true');
  const kind = $$('#kinds button').find((button) => button.dataset.kind && !button.disabled);
  kind.click();
  assert.match(location.search, new RegExp(`kind=${kind.dataset.kind}`));
  change(window, '#differences-q', 'none such', 'input');
});

test('a comparison with a run that goes on is read again while news of it keeps coming', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  answer.runs[1].status = 'running';
  const { asked } = await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => !$('#compared').hidden && $('#metrics table') && $('#kinds'), 'the comparison is shown');
  const looks = () => asked.filter(([, path]) => path.startsWith('/api/compare/?runs=')).length;
  const line = await until(() => sockets.findLast((socket) => socket.address.includes('overview')), 'it listens');
  const before = looks();
  const news = () => line.hear({ type: 'status', id: RUNS.other, status: 'running', sim_ms: 1 });
  await until(() => (news(), looks() > before), 'it is read again although news keep coming');
});

test('a cluster and its cut are compared by the clock of the cluster', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  Object.assign(answer, { began_at: '2020-01-01T02:00:00Z', at_ms: 3_600_000 });
  await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => $$('#gantts canvas').length === 2, 'both schedules are shown');
  assert.match(text('#subtitle'), /up to 01-01 03:00:00 UTC$/);
  await until(() => /UTC$/.test(text('#moment')), 'the time of the schedules');
});

test('a comparison with a cut that begins later says so where it would show differences', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  answer.at_ms = 60_000;
  answer.runs[1].from_ms = 90_000;
  const none = { ...answer.differences[0], at_ms: 60_000, count: 0, page: 1, rows: [], span_ms: [0, 60_000] };
  await visit('compare', `/compare/?runs=${pair}`, {}, [
    [`/api/compare/jobs/`, none],
    [`/api/compare/?runs=${pair}`, answer],
  ]);
  await until(() => $('#differences .empty'), 'no differences');
  for (const selector of ['#differences .empty', '#divergence'])
    assert.match(text(selector), /begins at 00:01:30\. The runs are compared up to 00:01:00, so/);
});

test('a comparison is updated until its cut has begun', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  answer.runs[0].status = 'running';
  answer.runs[1].from_ms = 90_000;
  let atMs = 60_000;
  const { asked } = await visit('compare', `/compare/?runs=${pair}`, {}, [
    [`/api/compare/?runs=${pair}`, () => Response.json({ ...answer, at_ms: atMs })],
  ]);
  const looks = () => asked.filter(([, path]) => path.startsWith('/api/compare/?runs=')).length;
  await until(() => looks() === 1 && /up to 00:01:00/.test(text('#subtitle')), 'it is shown');
  atMs = 120_000;
  await until(() => /up to 00:02:00/.test(text('#subtitle')), 'it is updated without an event');
});

test('an open comparison asks again and again that its runs are kept', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const [real, repeated] = [globalThis.setInterval, []];
  globalThis.setInterval = (act, ms) => (ms === 600_000 ? repeated.push(act) : real(act, ms));
  const { asked } = await visit('compare', `/compare/?runs=${pair}`, {});
  await until(() => repeated.length, 'the comparison is shown');
  globalThis.setInterval = real;
  assert.equal(repeated.length, 1);
  for (let i = 0; i < 2; i++) await repeated[0]();
  const kept = asked.filter(([, path]) => path === `/api/compare/open/?runs=${pair}`);
  assert.equal(kept.length, 2);
});

test('a comparison before any run has started says so in place of empty charts', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = await recorded(`/api/compare/?runs=${pair}`).json();
  for (const run of answer.runs) Object.assign(run, { status: 'running', begun: false });
  const answers = { now: answer };
  await visit('compare', `/compare/?runs=${pair}`, {}, [
    [`/api/compare/?runs=${pair}`, () => Response.json(answers.now)],
  ]);
  await until(() => !$('#compared').hidden && $('#gantts canvas'), 'the comparison is shown');
  assert.ok($('#compared').hasAttribute('data-unbegun'));
  assert.ok(!$('#unbegun').hidden);
  answers.now = { ...answer, runs: answer.runs.map((run, i) => ({ ...run, begun: i === 0 })) };
  const line = sockets.findLast((socket) => socket.address.includes('overview'));
  const news = () => line.hear({ type: 'status', id: RUNS.other, status: 'running', sim_ms: 1 });
  await until(() => (news(), $('#unbegun').hidden), 'the first one has started');
  assert.ok(!$('#compared').hasAttribute('data-unbegun'));
});

test('panels of a comparison that fail say so in their places, and the others are shown', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = { ...(await recorded(`/api/compare/?runs=${pair}`).json()), distributions: null };
  await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => $('#panel-spread > .broken'), 'the panel says that it failed');
  assert.match(text('#panel-spread > .broken'), /^This panel failed \(.*\)\. The other panels still work/);
  await until(() => $$('#metrics tbody tr').length > 3 && $('#differences table, #differences .empty'), 'others work');
  const failed = $$('.broken').map((note) => note.closest('section').id);
  assert.deepEqual(failed, ['panel-ranking', 'panel-spread'], 'those that show distributions');
});

const SPEEDS = 'The speeds of the jobs are derived from different models: a in run 1; b in run 2.';
const speeds = () => $$('.speeds').map((note) => (note.hidden ? null : note.textContent));

test('a comparison states speeds of different origins beside each chart and table', needsPage, async () => {
  const pair = `${RUNS.slotted},${RUNS.other}`;
  const answer = { ...(await recorded(`/api/compare/?runs=${pair}`).json()), speeds: SPEEDS };
  await visit('compare', `/compare/?runs=${pair}`, {}, [[`/api/compare/?runs=${pair}`, answer]]);
  await until(() => !$('#compared').hidden && $('#metrics table'), 'the comparison is shown');
  assert.deepEqual(speeds(), Array(6).fill(SPEEDS));
});

test('a sweep states speeds of different origins beside its chart and its table', needsPage, async () => {
  const path = `/api/sweeps/${RUNS.sweep}/points/`;
  const names = { 'sweep.pk': String(RUNS.sweep), sweep: String(RUNS.sweep) };
  const answer = { ...(await recorded(path).json()), speeds: SPEEDS };
  await visit('sweep', `/sweeps/${RUNS.sweep}/`, names, [[path, answer]]);
  await until(() => $$('#points tbody tr').length === 4, 'its points are listed');
  assert.deepEqual(speeds(), [SPEEDS, SPEEDS]);
});

test('what is no run number in the address is named above the list of runs', needsPage, async () => {
  await visit('compare', '/compare/?runs=abc', {});
  await until(() => $$('#choose-list tbody tr').length >= 5, 'runs are listed');
  assert.match(text('#address-notes'), /must be run numbers separated by commas.*got “abc”\. Left out: abc\./);
});

test('without two runs the compare page lets one choose', needsPage, async () => {
  const { window } = await visit('compare', '/compare/', {});
  await until(() => $$('#choose-list tbody tr').length >= 5, 'runs are listed');
  for (const box of $$('#choose-list input').slice(0, 2)) {
    box.checked = true;
    box.dispatchEvent(new window.Event('change'));
  }
  assert.match(text('#chosen'), /Compare 2 runs/);
});
