// Charts of the run page: one that is added to the list has a section, buttons and a place of its own to fail in.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open, serve } from './dom.js';

const dummy = (more = {}) => ({
  id: 'dummy',
  title: 'Dummy',
  make: (page) => ({
    chart: { table: (time) => ({ head: ['Time', 'Value'], rows: [[time(0), page.info.value]], total: 1 }) },
    ...more,
  }),
});

async function mounted(...panels) {
  open('/runs/7/', '<main><div id="charts"></div></main>');
  serve([['/api/client-errors/', {}]]);
  const { ChartPanels } = await import('../../static/js/run/panels/mount.js');
  const charts = new ChartPanels(document.querySelector('#charts'), panels);
  charts.make({ runId: 7, info: { value: '42' } });
  return charts;
}

test('the title of a chart over time is not followed by “over time” again', needsPage, async () => {
  open('/runs/7/', '<main></main>');
  const { chartSection } = await import('../../static/js/run/panels/section.js');
  const label = (title) => chartSection({ id: 'one', title }).canvas.getAttribute('aria-label');
  assert.equal(label('Prices'), 'Prices over time; the Table button shows the same numbers');
  assert.equal(label('Jobs over time'), 'Jobs over time; the Table button shows the same numbers');
});

test('a panel that is put into the list is on the page, with its table of numbers', needsPage, async () => {
  await mounted(dummy());
  const section = document.querySelector('#charts > #panel-dummy');
  assert.equal(section.querySelector('h2').textContent, 'Dummy');
  assert.equal(section.querySelector('[role=toolbar]').getAttribute('aria-label'), 'Dummy');
  document.querySelector('#dummy-table').click();
  assert.match(document.querySelector('#dummy-numbers').textContent, /00:00:00.*42/);
  assert.equal(document.querySelector('#dummy-table').getAttribute('aria-pressed'), 'true');
});

test(
  'it hears of new data, of another moment and of the status; what it does not hear of is left out',
  needsPage,
  async () => {
    const heard = [];
    const charts = await mounted(
      dummy({ update: () => heard.push('update'), status: ({ status }) => heard.push(status) }),
    );
    charts.notify('update');
    charts.notify('moved');
    charts.notify('status', { status: 'finished' });
    assert.deepEqual(heard, ['update', 'finished']);
  },
);

test('one that cannot be made, or fails later, says so in its place; the others go on', needsPage, async () => {
  const bad = {
    id: 'bad',
    title: 'Bad',
    make: () => {
      throw new Error('no data');
    },
  };
  let fails = true;
  const late = dummy({
    update: () => {
      if (fails) throw new Error('later');
    },
  });
  const charts = await mounted(bad, late);
  assert.match(document.querySelector('#panel-bad .broken').textContent, /This panel failed \(no data\)/);
  assert.equal(document.querySelector('#panel-dummy .broken'), null);
  charts.notify('update');
  assert.match(document.querySelector('#panel-dummy .broken').textContent, /\(later\)/);
  fails = false;
  charts.notify('update');
  assert.equal(document.querySelector('#panel-dummy .broken'), null);
});

test('the list of the run page has panels of different names, each with a title', needsPage, async () => {
  open();
  const { PANELS } = await import('../../static/js/run/panels/index.js');
  assert.equal(new Set(PANELS.map(({ id }) => id)).size, PANELS.length);
  assert.ok(PANELS.every(({ title, make }) => title && typeof make === 'function'));
});
