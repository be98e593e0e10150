// Charts of the run page: one that is added to the list has a section, buttons and a place of its own to fail in.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';

import { needsPage, open, serve } from '../dom.js';

const dummy = ({ id = 'dummy', ...more } = {}) => ({
  id,
  title: 'Dummy',
  make: (page) => ({
    chart: { table: (time) => ({ head: ['Time', 'Value'], rows: [[time(0), page.info.value]], total: 1 }) },
    ...more,
  }),
});

async function mounted(...panels) {
  open('/runs/7/', '<main><div id="charts"></div></main>');
  serve([['/api/client-errors/', {}]]);
  const { ChartPanels } = await import('../../../static/js/run/panels/mount.js');
  const charts = new ChartPanels(document.querySelector('#charts'), panels);
  charts.make({ runId: 7, info: { value: '42' } });
  return charts;
}

test('the title of a chart over time is not followed by “over time” again', needsPage, async () => {
  open('/runs/7/', '<main></main>');
  const { chartSection } = await import('../../../static/js/run/panels/section.js');
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

test('the list of the run page has its charts from top to bottom, each with an id of its own', needsPage, async () => {
  open();
  const { PANELS } = await import('../../../static/js/run/panels/index.js');
  const { registerPanel } = await import('../../../static/js/run/panels/registry.js');
  assert.deepEqual(
    PANELS.map(({ id }) => id),
    ['prices', 'certificate', 'utilization', 'queue'],
  );
  assert.throws(() => registerPanel(dummy({ id: 'queue' })), /“queue” is registered twice/);
});

/** A copy of the browser's modules in which the folder of the charts can be changed; the others are links. */
function copyOfModules() {
  const [root, copy] = [
    new URL('../../../static/js/', import.meta.url).pathname,
    mkdtempSync(join(tmpdir(), 'panels-')),
  ];
  const link = (folder, left) => {
    mkdirSync(join(copy, folder), { recursive: true });
    for (const name of readdirSync(join(root, folder)))
      if (name !== left) symlinkSync(join(root, folder, name), join(copy, folder, name));
  };
  link('.', 'run');
  link('run', 'panels');
  cpSync(join(root, 'run/panels'), join(copy, 'run/panels'), { recursive: true });
  return copy;
}

test('a chart is added by one file and one line of the list', needsPage, async (t) => {
  open('/runs/7/', '<main><div id="charts"></div></main>');
  const copy = copyOfModules();
  t.after(() => rmSync(copy, { recursive: true }));
  const panels = join(copy, 'run/panels');
  writeFileSync(
    join(panels, 'dummy.js'),
    `import { registerPanel } from './registry.js';
    const table = (time) => ({ head: ['Time', 'Value'], rows: [[time(0), '42']], total: 1 });
    registerPanel({ id: 'dummy', title: 'Dummy', make: () => ({ chart: { table } }) });`,
  );
  const list = readFileSync(join(panels, 'index.js'), 'utf8');
  writeFileSync(join(panels, 'index.js'), list.replace(/(?=import '.\/certificate.js')/, "import './dummy.js';\n"));
  const { PANELS } = await import(join(panels, 'index.js'));
  const { ChartPanels } = await import(join(panels, 'mount.js'));
  new ChartPanels(
    document.querySelector('#charts'),
    PANELS.map((panel) => (panel.id === 'dummy' ? panel : { ...panel, make: () => ({ chart: {} }) })),
  ).make({ runId: 7 });
  assert.deepEqual(
    [...document.querySelectorAll('#charts > section')].map(({ id }) => id),
    ['panel-prices', 'panel-dummy', 'panel-certificate', 'panel-utilization', 'panel-queue'],
  );
  document.querySelector('#dummy-table').click();
  assert.match(document.querySelector('#dummy-numbers').textContent, /00:00:00.*42/);
});
