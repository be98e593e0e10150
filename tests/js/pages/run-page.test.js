// The run page on recorded answers of the API, one run of each execution model: what it shows, and what a click does.

import assert from 'node:assert/strict';
import test from 'node:test';

import { RUNS, needsPage, openPage, painted, serveRecorded, sockets, until } from '../dom.js';

const $ = (selector) => document.querySelector(selector);
const text = (selector) => $(selector)?.textContent ?? '';

let visits = 0; // a page's module runs once for each address that it is imported by

async function shown(name, query = '', first = []) {
  const id = RUNS[name];
  const names = { 'run.pk': String(id), 'run.scenario.name': name, 'run.status': 'finished' };
  const window = openPage(`/runs/${id}/${query}`, 'run.html', names);
  const asked = serveRecorded([...first, [`/api/runs/${id}/events/table/?until_ms`, { rows: [] }]]);
  painted.length = 0;
  await import(`../../../static/js/pages/run.js${visits++ ? `?${visits}` : ''}`);
  await until(() => globalThis.twin?.store.finished && $('#jobs tbody tr'), 'the jobs are shown');
  await until(() => painted.length > 0, 'something is painted');
  return { window, asked, twin: globalThis.twin };
}

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

test('the rows of the schedule are counted as servers or jobs, without the heads of the sites', needsPage, async () => {
  const { twin } = await shown('slotted');
  await until(() => text('#gantt-count'), 'the count is shown');
  assert.equal(twin.gantt.rows.list.length, 6);
  assert.match(text('#gantt-count'), /^4 servers, /);
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

test('where all rows are shaded, the choice of colours and the legend name no bars', needsPage, async () => {
  const { twin } = await shown('slotted');
  const colour = $('#gantt-colour');
  assert.equal(colour.value, 'job');
  assert.match(text('#gantt-marks'), /parameter server/);
  twin.gantt.scaleRows(0.01);
  await until(() => colour.disabled, 'no colour can be chosen');
  assert.equal(colour.selectedOptions[0].textContent, 'colour by share');
  assert.equal(text('#gantt-marks'), '');
  assert.ok($('#gantt-marks').matches('[data-known]'), 'the note beside the marks is shown without them');
  twin.gantt.scaleRows(100);
  await until(() => !colour.disabled, 'bars are drawn again');
  assert.equal(colour.value, 'job');
});

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
  await until(() => /without 3 later jobs\./.test(text('#certificate-result')), 'later jobs are counted');
  status({ ...newest, clock: {}, certificate: { kind: 'none', why: 'the computation failed', seq: 1 } });
  await until(() => /^No certificate: the computation failed/.test(text('#certificate-result')), 'it has none');
  assert.ok($('#panel-certificate details').hidden);
  status({ ...newest, status: 'running', clock: {}, certificate: { ...known, jobs: 0 } });
  await until(() => $('#panel-certificate').hidden, 'a certificate of 0 jobs is not shown');
});

test('the number of a what-if edit in the schedule is in its legend, once the edit was made', needsPage, async () => {
  const { twin } = await shown('slotted');
  await until(() => text('#gantt-count'), 'the schedule is painted');
  assert.ok($('#gantt-edits').hidden);
  twin.store.edits = [[0, ['drains a']]];
  twin.stream.dispatchEvent(new Event('data'));
  await until(() => !$('#gantt-edits').hidden, 'the legend has it');
});

const key = (window, name, target = document.body) =>
  target.dispatchEvent(new window.KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
const input = (window, selector, value, kind = 'input') => {
  $(selector).value = value;
  $(selector).dispatchEvent(new window.Event(kind, { bubbles: true }));
};

/** The px of a row and a moment on the Gantt. */
function pointOf({ gantt }, label, ms) {
  const { frame } = gantt;
  const place = frame.rows.list.findIndex((row) => row.label === label);
  return [frame.xOf(ms), frame.area.top + (place + 0.25) * frame.rowPx - frame.top];
}

function pointer(window, kind, [x, y], more = {}) {
  const event = new window.MouseEvent(kind, {
    bubbles: true,
    cancelable: true,
    button: 0,
    clientX: x,
    clientY: y,
    ...more,
  });
  Object.defineProperty(event, 'pointerId', { value: 1 });
  $('#gantt').setPointerCapture = $('#gantt').releasePointerCapture = () => {};
  $('#gantt').dispatchEvent(event);
}

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
  'the schedule by jobs, coloured by state, filtered and searched: legend, rows and address',
  needsPage,
  async () => {
    const { window, twin } = await shown('slotted');
    $('#gantt-rows [data-rows="jobs"]').click();
    assert.equal(twin.gantt.rows.list.filter(({ kind }) => kind === 'job').length, 8);
    for (const [colour, legend] of [
      ['state', /completed/],
      ['model', /job/],
      ['age', /time since arrival/],
      ['payoff', /payoff/],
    ]) {
      input(window, '#gantt-colour', colour, 'change');
      await until(() => legend.test(text('#gantt-legend')), `the legend of ${colour}`);
      assert.match(location.search, new RegExp(`rows=jobs.*colour=${colour}`));
    }
    input(window, '#row-filter', 'j0003');
    await until(() => twin.gantt.rows.list.length === 1, 'one row is left');
    input(window, '#job-search', 'j000');
    await until(() => /^8 of 8 jobs highlighted/.test(text('#job-found')), 'all jobs are found');
    key(window, 'Enter', $('#job-search'));
    assert.match(text('#job-found'), /^1 of 8/);
  },
);

test('a bar that is pointed at is described, and a click opens its job', needsPage, async () => {
  const { window, twin } = await shown('slotted');
  const { bars } = twin.store;
  const bar = [...Array(bars.length).keys()].find((i) => bars.died_ms[i] < 0 && bars.server[i] >= 0);
  const row = twin.gantt.rows.list.find(({ kind, index }) => kind === 'server' && index === bars.server[bar]);
  const point = pointOf(twin, row.label, (bars.start_ms[bar] + bars.end_ms[bar]) / 2);
  pointer(window, 'pointermove', point);
  assert.match(text('#tip'), new RegExp(`^${row.label}`));
  assert.match(text('#tip'), /j000\d/);
  pointer(window, 'pointerdown', point);
  pointer(window, 'pointerup', point);
  await until(() => $('#drawer .reason'), 'the story has come');
  assert.ok(twin.gantt.selected !== null);
});

test('the table beside the schedule has its bars; the tables of all charts have numbers', needsPage, async () => {
  await shown('typed');
  for (const id of ['gantt', 'utilization', 'queue']) {
    $(`#${id}-table`).click();
    assert.ok(document.querySelectorAll(`#${id}-numbers tbody tr`).length > 0, id);
  }
  assert.match(text('#gantt-numbers'), /worker/);
});

test('in groups: bands, states of jobs, regroupings and what is claimed', needsPage, async () => {
  const { window, twin } = await shown('groups');
  assert.ok(twin.store.groups.length > 0);
  const [from, end, data] = twin.store.groups.find(([begin, stop, group]) => group.jobs.length && stop > begin);
  const server =
    twin.info?.cluster?.servers[data.servers[0]]?.name ?? twin.gantt.info.cluster.servers[data.servers[0]].name;
  pointer(window, 'pointermove', pointOf(twin, server, (from + end) / 2));
  assert.match(text('#tip'), new RegExp(`group ${data.group}`));
  $('#gantt-rows [data-rows="jobs"]').click();
  await until(
    () => twin.gantt.frame.views.some(({ how }) => how === 'owned'),
    'rows of jobs are painted by their states',
  );
  assert.match(text('#gantt-marks'), /suspended/);
  const [x, y] = pointOf(twin, twin.gantt.info.ids[data.jobs[0]], (from + end) / 2);
  pointer(window, 'pointermove', [x, Math.max(y, 40)]); // below the ticks of regroupings
  assert.match(text('#tip'), /since/);
});

test('uploads are described where they are under way, and listed in the table', needsPage, async () => {
  const { window, twin } = await shown('typed');
  const uploads = twin.gantt.layer('uploads');
  await until(() => uploads.any, 'the delays have come');
  const rows = twin.gantt.rows.list.filter(({ kind }) => kind === 'server');
  const row = rows.find((each) => uploads.grouped(each, 0, 1e15, 1e15).length);
  const [upload] = uploads.grouped(row, 0, 1e15, 1e15);
  twin.view.set(upload.from - 1000, upload.until + 1000);
  await until(() => twin.gantt.frame.from === upload.from - 1000, 'the picture has moved');
  pointer(window, 'pointermove', pointOf(twin, row.label, (upload.from + upload.until) / 2));
  assert.match(text('#tip'), /upload of \d+ chunk/);
  assert.ok(uploads.table(row, twin.gantt.frame).length > 0);
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

test('a frame that cannot be a drain says what to do instead', needsPage, async () => {
  const { window, twin } = await shown('slotted');
  const drag = (from, to) => {
    pointer(window, 'pointerdown', from, { altKey: true });
    pointer(window, 'pointermove', to, { altKey: true });
    pointer(window, 'pointerup', to, { altKey: true });
  };
  const explanation = async () => {
    const dialog = await until(() => $('dialog.confirm'), 'the explanation is shown');
    const sentence = dialog.querySelector('p').textContent;
    dialog.close('');
    return sentence;
  };
  const { area } = twin.gantt.frame;
  twin.view.set(twin.store.simMs - 1000, twin.store.simMs + 100_000);
  await until(() => twin.gantt.frame.from === twin.store.simMs - 1000, 'the picture has moved');
  drag([area.left + 100, area.top + 1], [area.right, area.bottom]);
  assert.match(await explanation(), /^The run ended at .*, and the selection begins after that\. .* hold Alt and drag/);
  $('#gantt-rows [data-rows="jobs"]').click();
  drag([area.left + 10, area.top + 1], [area.right, area.bottom]);
  assert.match(await explanation(), /set the rows of the schedule to Servers first/);
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
