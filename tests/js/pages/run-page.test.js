// The run page on recorded answers of the API, one run of each execution model: what it shows, and what a click does.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, serveRecorded, sockets, until } from '../dom.js';
import { $, input, key, shown, text } from '../run-page.js';

for (const name of ['slotted', 'typed', 'groups', 'handed']) {
  test(`a run of ${name}: every panel is there and none has failed`, needsPage, async () => {
    const { twin } = await shown(name);
    assert.deepEqual(
      [...document.querySelectorAll('.broken')].map((note) => note.textContent),
      [],
    );
    assert.equal(text('#status'), 'finished');
    assert.match(text('#jobs-count'), /^8 arrived jobs, latest state/);
    for (const id of ['prices', 'certificate', 'utilization', 'queue']) assert.ok($(`#panel-${id} canvas`), id);
    const states = [...document.querySelectorAll('#tiles .tile')]
      .slice(0, -1)
      .map((tile) => Number(tile.querySelector('dd').textContent));
    assert.equal(
      states.filter(Number.isFinite).reduce((sum, count) => sum + count, 0),
      8,
      'the states add up to all jobs',
    );
    assert.ok(twin.gantt.frame.views.length > 0);
  });
}

test('a run whose decided jobs are all rejected says why most of them were', needsPage, async () => {
  const { twin } = await shown('slotted', '', [
    [
      `/api/runs/${RUNS.slotted}/events/table/?kind=decided`,
      { rows: [{ id: 'j7', text: 'rejected: Rejected: no samples.' }] },
    ],
  ]);
  assert.ok($('#all-rejected').hidden);
  twin.store.verdicts = [['rejected', 'rejected', 'missing_part'], null, ['rejected', 'rejected', 'too_late']].concat([
    ['rejected', 'rejected', 'missing_part'],
  ]);
  twin.stream.dispatchEvent(new Event('data'));
  await until(() => text('#all-rejected'), 'the note is shown');
  assert.equal(
    text('#all-rejected'),
    'All 3 jobs with a decision were rejected. Most frequent reason (2 jobs), here of job j7: no samples.',
  );
});

test('prices after the time shown are planned, which the legend states', needsPage, async () => {
  const unanswered = [`/api/runs/${RUNS.slotted}/prices/?at_ms`, () => new Promise(() => {})];
  const { twin } = await shown('slotted', '', [unanswered]); // the newest prices stay
  const key = () => $('#prices-legend .planned-key');
  await until(() => $('#prices-legend .key'), 'the prices are shown');
  assert.equal(key(), null, 'nothing comes after the end of the run');
  for (const id of ['prices', 'certificate'])
    assert.equal(text(`#${id}-legend .measure-key`), 'in utility per unit and slot', id);
  twin.playhead.scrub(twin.playhead.ms / 4);
  await until(key, 'a part is planned');
  assert.equal(key().textContent, 'planned, after the time shown');
  assert.equal($('#certificate-legend .planned-key'), null, 'the prices of a bound are no plan');
});

test('the actions of a run end with its deletion, downloads are in one menu', needsPage, async () => {
  await shown('slotted');
  await until(() => $('#run-delete'), 'it can be deleted');
  const actions = [...document.querySelectorAll('.heading > .actions :is(button, a)')].map((one) => one.textContent);
  assert.deepEqual(actions, ['What-if', 'Compare', 'Download', 'Panels', 'Delete run']);
  assert.equal($('#downloads a').textContent, 'Schedule CSV');
  const last = document.querySelectorAll('#panel-jobs header .actions > button');
  assert.ok([...last].at(-1).classList.contains('panel-menu'), 'the menu of a panel is its last control');
});

test(
  'at the end of a run the legend of the utilization has means, elsewhere the values of a time',
  needsPage,
  async () => {
    const { twin } = await shown('slotted');
    const values = () => [...document.querySelectorAll('#utilization-legend .key b')].map((one) => one.textContent);
    await until(() => values().some(Boolean), 'the legend has values');
    assert.ok(
      values().every((one) => /^mean [\d.]+ %$/.test(one)),
      values().join(),
    );
    assert.ok(
      values().some((one) => one !== 'mean 0 %'),
      values().join(),
    );
    twin.playhead.scrub(twin.playhead.ms / 2);
    await until(() => values().every((one) => /^[\d.]+ %$/.test(one)), 'the values of the time shown');
  },
);

test(
  'at the end of a finished run, tiles of shares have the mean of the whole run, and say so',
  needsPage,
  async () => {
    const { window, twin } = await shown('slotted');
    const tiles = () =>
      [...document.querySelectorAll('#tiles .tile')].map((tile) => [...tile.children].map((part) => part.textContent));
    const gpu = () => tiles().find(([title]) => title.includes('GPU allocation'));
    const { utilization } = await (await fetch(`/api/runs/${RUNS.slotted}/`)).json().then(({ metrics }) => metrics);
    await until(() => gpu()[0] === 'Mean GPU allocation', 'the metrics of the run have come');
    assert.equal(gpu()[1], `${(utilization.gpu * 100).toFixed(1)} %`);
    twin.playhead.scrub(0);
    await until(() => gpu()[0] === 'GPU allocation', 'an earlier time is shown');
    key(window, 'l');
    await until(() => gpu()[0] === 'Mean GPU allocation', 'the end is shown again');
  },
);

test('the certificate leads with its result, and its proof is folded', needsPage, async () => {
  const { twin } = await shown('slotted');
  const known = { kind: 'pooled_lp', achieved: 5, bound: 8, ratio: 0.625, jobs: 8, at_ms: 0, slots: 100, seconds: 1 };
  const status = (certificate) => twin.stream.dispatchEvent(new CustomEvent('status', { detail: certificate }));
  const newest = await (await fetch(`/api/runs/${RUNS.slotted}/`)).json();
  status({ ...newest, clock: {}, certificate: known });
  await until(() => $('#certificate-result b'), 'the result is shown');
  assert.match(text('#certificate-result'), /^≥ [\d.]+ % of the optimal utility/);
  assert.equal($('#panel-certificate details').open, false);
  assert.match(text('#panel-certificate details'), /No schedule of the 8 jobs known/);
  status({ ...newest, clock: {}, certificate: { ...known, jobs: 5 } });
  await until(() => /not 3 later jobs\./.test(text('#certificate-result')), 'later jobs are counted');
  status({ ...newest, clock: {}, certificate: { kind: 'none', why: 'the computation failed', seq: 1 } });
  await until(() => /^No certificate: the computation failed/.test(text('#certificate-result')), 'it has none');
  assert.ok($('#panel-certificate details').hidden);
  status({ ...newest, status: 'running', clock: {}, certificate: { ...known, jobs: 0 } });
  await until(() => $('#panel-certificate').hidden, 'a certificate of 0 jobs is not shown');
});

test("a row opens the drawer with the job's story and Escape closes it; the address follows", needsPage, async () => {
  const { window, twin } = await shown('slotted', '?sort=-jct_ms');
  assert.match(text('#jobs th[aria-sort]'), /JCT ▼/);
  $('#jobs tr[data-job="1"]').click();
  await until(() => $('#drawer .reason'), 'the story has come');
  assert.equal($('#drawer').open, true);
  assert.match(text('#drawer h1'), /j0002/);
  assert.equal(twin.gantt.selected, 1);
  assert.match(location.search, /job=1/);
  assert.match(text('#drawer'), /Fields and their provenance/);
  key(window, 'Escape');
  assert.equal($('#drawer').open, false);
  assert.equal(twin.gantt.selected, null);
  assert.doesNotMatch(location.search, /job=/);
});

test(
  'the playhead goes back: tiles, table and badge are of that moment; L leads to the newest',
  needsPage,
  async () => {
    const { window, twin, asked } = await shown('slotted');
    twin.playhead.scrub(twin.store.jobs.arrived_ms[0]);
    await until(() => asked.some(([, path]) => /jobs\/\?.*at_ms=/.test(path)), 'the jobs of then are asked for');
    await until(() => text('#tile-completed') === '0', 'nothing is completed then');
    key(window, 'l');
    await until(() => text('#tile-completed') !== '0', 'the newest again');
    assert.equal(twin.playhead.following, true);
  },
);

test('while the time shown keeps moving, no earlier event is named', needsPage, async () => {
  const { twin } = await shown('slotted');
  $('#event-at').textContent = 'event 3 of 40: decided';
  const moves = () => twin.playhead.dispatchEvent(new Event('move'));
  await until(() => (moves(), text('#event-at') === ''), 'what was stepped to is not named any more');
});

test('events are listed when they are opened, and a kind is kept in the address', needsPage, async () => {
  const { window } = await shown('slotted');
  $('#events-open').click();
  await until(() => document.querySelectorAll('#events tbody tr').length > 5, 'the events are listed');
  assert.match(location.search, /events=1/);
  assert.equal($('#events-open').getAttribute('aria-expanded'), 'true');
  input(window, '#events-kind', 'decided', 'change');
  assert.match(location.search, /kind=decided/);
});

test('events that came after the list are counted beside it, and listed on demand', needsPage, async () => {
  const { twin, asked } = await shown('slotted');
  const lists = () => asked.filter(([, path]) => String(path).includes('/events/table/?kind')).length;
  $('#events-open').click();
  const seq = twin.store.lastSeq;
  twin.store.lastSeq = seq + 3;
  const newer = () => $('#events-pager button');
  const data = () => twin.stream.dispatchEvent(new Event('data'));
  await until(() => (data(), newer() && !newer().hidden), 'newer events are counted');
  assert.equal(newer().textContent, 'Show 3 newer events');
  assert.match(text('#events-pager'), new RegExp(`up to event ${seq} of the log`));
  const before = lists();
  newer().click();
  assert.equal(lists(), before + 1);
});

test('an operator deletes a run after a question; Escape and Cancel leave it', needsPage, async () => {
  const { asked } = await shown('slotted');
  const deleted = () => asked.some(([method]) => method === 'DELETE');
  for (const [value, gone] of [
    ['', false],
    ['yes', true],
  ]) {
    $('#run-delete').click();
    const dialog = await until(() => $('dialog.confirm'), 'a question is asked');
    assert.match(dialog.textContent, /Delete run \d+, “slotted”\?/);
    dialog.close(value);
    await until(() => !$('dialog.confirm'), 'it is over');
    if (gone) await until(deleted, 'the run is deleted');
    else assert.equal(deleted(), false);
  }
});

test('what the run page says of the log and of the forks is rendered again when they change', needsPage, async () => {
  const { twin, asked } = await shown('slotted');
  const { lastSeq } = twin.store;
  $('#event-back').click();
  await until(() => text('#event-at').includes(` of ${lastSeq}`), 'an event is shown');
  twin.store.lastSeq = lastSeq + 3;
  twin.stream.dispatchEvent(new Event('data'));
  assert.ok(text('#event-at').includes(` of ${lastSeq + 3}`), text('#event-at'));
  const forks = () => asked.filter(([, path]) => path.endsWith('/forks/')).length;
  const before = forks();
  twin.stream.dispatchEvent(new CustomEvent('status', { detail: { status: 'cancelled', metrics: {} } }));
  await until(() => forks() === before + 1, 'the forks are asked for again');
});

test(
  'a fork that starts elsewhere is listed, its state follows, and a deleted parent leaves a reason',
  needsPage,
  async () => {
    const id = RUNS.slotted;
    const own = { id, parent: null, fork_ms: null, depth: 0, name: 'slotted', status: 'finished', wanted: 'running' };
    const fork = { ...own, id: 900, parent: id, fork_ms: 1000, depth: 1, mode: 'batch', edits: [] };
    let rows = [{ ...own, mode: 'batch', edits: [] }];
    await shown('slotted', '', [[`/api/runs/${id}/forks/`, () => rows]]);
    const overview = sockets.findLast(({ address }) => address.endsWith('/ws/overview/'));
    assert.equal($('#panel-family').hidden, true);
    for (const status of ['queued', 'running']) {
      rows = [rows[0], { ...fork, status }];
      overview.hear({ type: 'run', run: rows[1] });
      await until(() => text('#panel-family').includes(status), `the fork is ${status}`);
    }
    assert.match(text('#panel-family'), /Run 900.*forked at 00:00:01/);
    rows = [{ ...rows[0], fork_ms: 1000 }];
    overview.hear({ type: 'deleted', id: 900 });
    await until(() => $('#promote-why'), 'the reason is given');
    assert.match(text('#promote-why'), /the run that it was forked from has been deleted/);
    assert.equal($('#promote').disabled, true);
    assert.equal($('#discard').disabled, false);
  },
);

test('the drawer keeps the name of a job that cannot be read any more', needsPage, async () => {
  await shown('slotted');
  const id = RUNS.slotted;
  const gone = new Response(JSON.stringify({ detail: 'This run has been deleted.' }), { status: 404 });
  serveRecorded([[`/api/runs/${id}/jobs/`, () => gone]]);
  $('#jobs tbody tr').click();
  await until(() => /has been deleted/.test(text('#drawer')), 'the refusal is shown');
  const info = await (await fetch(`/api/runs/${id}/static/`)).json();
  assert.ok(info.ids.includes(text('#drawer h1')), text('#drawer h1'));
});

test('a link to Ask shows it, which comes with the state of an active run', needsPage, async () => {
  const { window, twin } = await shown('slotted', '#panel-ask');
  const scrolled = [];
  window.Element.prototype.scrollIntoView = function note() {
    scrolled.push(this.id);
  };
  twin.stream.dispatchEvent(new CustomEvent('status', { detail: { status: 'running', mode: 'batch' } }));
  await until(() => $('#ask-like'), 'the form is shown');
  assert.ok(scrolled.length > 0 && scrolled.every((id) => id === 'panel-ask'), scrolled.join());
});
