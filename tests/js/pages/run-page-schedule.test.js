// The schedule of the run page on recorded answers of the API: rows, colours, legend, tooltips and its table.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, until } from '../dom.js';
import { $, input, key, pointOf, pointer, shown, text } from '../run-page.js';

test('the rows of the schedule are counted as servers or jobs, without the heads of the sites', needsPage, async () => {
  const { twin } = await shown('slotted');
  await until(() => text('#gantt-count'), 'the count is shown');
  assert.equal(twin.gantt.rows.list.length, 6);
  assert.match(text('#gantt-count'), /^4 servers, /);
});

test('where all rows are shaded, the choice of colours and the legend name no bars', needsPage, async () => {
  const { twin } = await shown('slotted');
  const colour = $('#gantt-colour');
  assert.equal(colour.value, 'job');
  assert.match(text('#gantt-marks'), /parameter server/);
  twin.gantt.scaleRows(0.01);
  await until(() => colour.disabled, 'no colour can be chosen');
  assert.equal(colour.selectedOptions[0].textContent, 'colour by share');
  assert.equal(text('#gantt-marks'), '');
  assert.ok('known' in $('#gantt-marks').dataset, 'the note is shown without marks');
  twin.gantt.scaleRows(100);
  await until(() => !colour.disabled, 'bars are drawn again');
  assert.equal(colour.value, 'job');
});

test('the number of a what-if edit in the schedule is in its legend, once the edit was made', needsPage, async () => {
  const { twin } = await shown('slotted');
  await until(() => text('#gantt-count'), 'the schedule is painted');
  assert.ok($('#gantt-edits').hidden);
  twin.store.edits = [[0, ['drains a']]];
  twin.stream.dispatchEvent(new Event('data'));
  await until(() => !$('#gantt-edits').hidden, 'the legend has it');
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
