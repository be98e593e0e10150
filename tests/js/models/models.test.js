// Execution models: what is known of one stands in static/js/models alone, and a run of an unknown one is refused by
// name.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import { SUSPENDED, WORKER } from '../../../static/js/core/columns/bars.js';
import { Store } from '../../../static/js/core/store.js';
import { modelOf, modelsOf, statesOf } from '../../../static/js/models/index.js';
import { phaseAt, whileIn, trainingText } from '../../../static/js/core/phases.js';
import { frame, plan } from '../builders.js';
import { OF_JOBS, marksOf } from '../../../static/js/run/schedule/gantt-legend.js';

const ROOT = new URL('../../../static/js/', import.meta.url);
const phases = (...names) => names.map((model, i) => ({ from_ms: i * 100, model }));
const EVERY = ['slotted', 'typed_workers', 'colocation', 'observed'];

/** Ways in which a source can branch on an execution model. */
const BRANCHES = [
  /['"`](slotted|typed[-_]workers|colocation|observed)['"`]/, // its name
  /scheduler\??\.(lanes|groups|model)\b/, // a flag of the payload
  /(if|\?|&&|\|\|)\s*\(?!?(\w+\.)*(lanes|groups)\s*(\)|\?|&&)/, // the flags under another name
  /\b(isSlotted|isTyped\w*|isColocat\w*|familyOf|familiesOf)\b/,
  /\.groups\.any\b|store\.groups\.length\s*(\?|&&)/,
];
const ALLOWED = /^models\/(?!index|phases)/; // where what differs between the models stands
/** Virtual clusters of a trace and columns of tables are called groups, too; a scope says what a plan replaces. */
const OTHERS = /info\.groups &&|choice\.groups && groups|scope === 'observed'/;

function branches(name, text) {
  if (ALLOWED.test(name)) return [];
  const lines = text.split('\n').map((line) => line.replace(OTHERS, ''));
  const imports = (line) => /^\s*(import|export) .* from /.test(line) || /^import /.test(line);
  return lines.flatMap((line, i) =>
    !imports(line) && BRANCHES.some((branch) => branch.test(line)) ? [`${name}:${i + 1}: ${line.trim()}`] : [],
  );
}

test('no source outside static/js/models branches on the execution model', () => {
  const names = readdirSync(ROOT, { recursive: true }).filter((name) => name.endsWith('.js'));
  assert.ok(names.length > 100, 'all sources are read');
  assert.deepEqual(
    names.flatMap((name) => branches(name, readFileSync(new URL(name, ROOT), 'utf8'))),
    [],
  );
});

test('a real cluster whose jobs state no CPUs has no share of allocated CPUs', () => {
  const bars = { length: 1, job: [0], role: [0], server: [0], count: [1], start_ms: [0], end_ms: [100], born_ms: [0] };
  const store = { bars: { ...bars, died_ms: [Infinity], worker_slot: [-1] } };
  const servers = [{ site: 'edge', capacity: [4000, 64_000, 0, 0, 0] }];
  const info = { cluster: { servers }, worker: [2000, 0, 0, 0, 0], ps: [0, 0, 0, 0, 0], used: [true, false] };
  const shares = (name) => modelOf(name).shares(store, info, 50, 50, 1, 1);
  assert.deepEqual([...shares('observed').gpu, ...shares('observed').cpu], [0.5, NaN]);
  assert.deepEqual([...shares('slotted').cpu], [0], 'in a simulation nothing is unknown');
  Object.assign(info, { worker: [0, 8000, 0, 0, 0], used: [false, true] });
  assert.deepEqual([...shares('observed').gpu, ...shares('observed').cpu], [0, 0.125], 'a job may do without GPUs');
  const bare = { site: 'edge', capacity: [4000, 0, 0, 0, 0] };
  const cloud = { site: 'cloud', capacity: [4000, 64_000, 0, 0, 0] };
  const stateless = { ...info, cluster: { servers: [bare, cloud] } };
  assert.deepEqual([...modelOf('observed').shares(store, stateless, 50, 50, 1, 1).cpu], [0], 'the share of the cloud');
  const lost = { ...bare, was: [[40, [4000, 16_000, 0, 0, 0]]] }; // its CPUs, though a job still holds them
  const less = { ...info, cluster: { servers: [lost, cloud] } };
  assert.deepEqual([...modelOf('observed').shares(store, less, 50, 50, 1, 1).cpu], [0.125], '8 held, of 64');
  Object.assign(info, { worker: [], used: [false, false] });
  const idle = modelOf('observed').shares({ bars: { length: 0 } }, info, 50, 50, 1, 1);
  assert.deepEqual([...idle.gpu, ...idle.cpu], [0, 0], 'no job holds anything');
});

test('groups use a share of the machines that are there', () => {
  const group = { group: 1, jobs: [0], ready_ms: [0], profiling: [0], servers: [0], machines: 1 };
  const store = {
    jobs: { completed_ms: [-1] },
    groups: [[0, -1, { ...group, comp_ms: [5], comm_ms: [2.5], pace_ms: [10] }]],
  };
  const added = { site: 'edge', away: [[0, 40]] };
  const failed = { site: 'edge', away: [[20, 60]] };
  const info = { cluster: { servers: [{ site: 'edge' }, added, failed] } };
  const shares = modelOf('colocation').shares(store, info, 80, 0, 20, 4);
  assert.deepEqual([...shares['used-cpu']], [0.25, 0.5, 0.25, 0.5 / 3]);
  const { exact } = modelOf('colocation').utilization(store, info);
  assert.equal(exact(30, 80).cpu0, 0.5);
});

test('a branch that is added is found, wherever it stands but among the models', () => {
  const planted = [
    "if (model.name === 'colocation') return;",
    "const bands = phase.model === 'typed_workers' ? a : b;",
    "const word = phases.some(({ model }) => model === 'observed') ? 'ended' : state;",
    'this.segments = info.scheduler.lanes ? new Segments(store) : null;',
    'if (info.scheduler.groups) groupLegend(made);',
    'if (lanes) return null;',
    'if (row.kind && this.groups.any) return;',
    'const family = familyOf(phase);',
  ];
  for (const line of planted) {
    assert.equal(branches('gantt/gantt.js', line).length, 1, line);
    assert.equal(branches('models/colocation.js', line).length, 0, line);
  }
});

test('an unknown model is refused by its name, with those that are known', () => {
  assert.throws(() => modelOf('quantum'), /execution model “quantum”.*slotted, typed_workers, colocation/);
  assert.deepEqual(
    modelsOf({ phases: phases('colocation', 'slotted', 'colocation') }).map(({ name }) => name),
    ['colocation', 'slotted'],
  );
});

test('every model answers the same questions', () => {
  const questions = Object.keys(modelOf('slotted')).sort();
  for (const name of EVERY) assert.deepEqual(Object.keys(modelOf(name)).sort(), questions, name);
});

test('only jobs in groups are measured and moved', () => {
  assert.equal(statesOf({ phases: phases('slotted', 'typed_workers') }).includes('moving'), false);
  assert.equal(statesOf({ phases: phases('slotted', 'colocation') }).includes('moving'), true);
});

test('a moment and a bin belong to the model in charge then', () => {
  const both = phases('slotted', 'colocation');
  assert.equal(phaseAt(both, 99).model, 'slotted');
  assert.equal(phaseAt(both, 100).model, 'colocation');
  assert.deepEqual(whileIn('colocation', both, [1, 2, 3], 0, 60), [NaN, NaN, 3]);
});

test('the legend has each mark once, and those of groups only where they are painted', () => {
  const store = new Store();
  assert.deepEqual(
    marksOf({ phases: phases('slotted', 'typed_workers') }, 'servers', store, false),
    [],
    'no mark of a bar where all rows are shaded',
  );
  const texts = (order, ...names) => marksOf({ phases: phases(...names) }, order, store).map(({ text }) => text);
  assert.deepEqual(texts('jobs', 'slotted'), ['worker', 'parameter server', 'queued or planned', 'rejected']);
  const both = texts('jobs', 'slotted', 'colocation', 'observed');
  assert.equal(both.filter((text) => text === 'queued or planned').length, 1);
  assert.equal(texts('servers', 'slotted', 'typed_workers').filter((text) => text === 'worker').length, 1);
  assert.ok(texts('jobs', 'colocation').includes('suspended'));
  assert.ok(!texts('servers', 'colocation').includes('suspended'));
  assert.ok(texts('servers', 'colocation').includes('regrouped'));
});

test('workers without their CPUs are in the legend only of a run that has some', () => {
  const store = new Store();
  const has = () =>
    marksOf({ phases: phases('observed') }, 'servers', store).some(({ text }) => text.includes('without its CPUs'));
  store.feed(frame([[1, 0, 'plan_changed', plan(0, 0, 9, [0, WORKER, 0, 0, 9, 1, -1, -1, -1])]]));
  assert.equal(has(), false, 'as on a pushed cluster, where the CPUs of a suspended job count');
  store.feed(frame([[2, 5, 'plan_changed', plan(0, 0, 9, [0, SUSPENDED, 0, 5, 9, 1, -1, -1, -1])]]));
  assert.equal(has(), true);
});

test('every mark of a legend has a style', () => {
  const css = readFileSync(new URL('../css/run.css', ROOT), 'utf8');
  const marks = [...EVERY.flatMap((name) => modelOf(name).legend), ...OF_JOBS].map(({ mark }) => mark);
  for (const mark of new Set(marks)) assert.match(css, new RegExp(`\\.${mark}\\b`), mark);
});

test('the training model is named where a scheduler can use several', () => {
  const fifo = { from_ms: 0, title: 'FIFO', model: 'slotted', training: 'PD-ORS' };
  assert.equal(trainingText([fifo]), 'training model PD-ORS');
  assert.equal(trainingText([fifo, { ...fifo, title: 'DRF' }]), 'training model PD-ORS');
  assert.equal(trainingText([fifo, { ...fifo, title: 'RRH', training: 'OASiS' }]), 'training model PD-ORS → OASiS');
  assert.equal(trainingText([{ ...fifo, title: 'OASiS', training: 'OASiS' }]), '');
  assert.equal(trainingText([{ ...fifo, title: 'SRTF', model: 'typed_workers', training: '' }]), '');
});
