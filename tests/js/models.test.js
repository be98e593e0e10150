// Execution models: what is known of one stands in static/js/models alone, and a run of an unknown one is refused by
// name.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';

import { modelOf, modelsOf, statesOf } from '../../static/js/models/index.js';
import { phaseAt, whileIn } from '../../static/js/models/phases.js';
import { marksOf } from '../../static/js/run/gantt-legend.js';

const ROOT = new URL('../../static/js/', import.meta.url);
const phases = (...names) => names.map((model, i) => ({ from_ms: i * 100, model }));
const EVERY = ['slotted', 'typed_workers', 'colocation', 'observed'];

/** Ways in which a source can branch on an execution model. */
const BRANCHES = [
  /['"`](slotted|typed[-_]workers|colocation)['"`]/, // its name
  /scheduler\??\.(lanes|groups|model)\b/, // a flag of the payload
  /(if|\?|&&|\|\|)\s*\(?!?(\w+\.)*(lanes|groups)\s*(\)|\?|&&)/, // the flags under another name
  /\b(isSlotted|isTyped\w*|isColocat\w*|familyOf|familiesOf)\b/,
  /\.groups\.any\b|store\.groups\.length\s*(\?|&&)/,
];
const ALLOWED = /^models\//; // where what differs between the models stands
/** Virtual clusters of a trace and columns of tables are called groups, too. */
const OTHERS = /info\.groups &&|choice\.groups && groups/;

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

test('a branch that is added is found, wherever it stands but among the models', () => {
  const planted = [
    "if (model.name === 'colocation') return;",
    "const bands = phase.model === 'typed_workers' ? a : b;",
    'this.pieces = info.scheduler.lanes ? new Pieces(store) : null;',
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
  const texts = (order, ...names) => marksOf({ phases: phases(...names) }, order).map(({ text }) => text);
  assert.deepEqual(texts('jobs', 'slotted'), ['worker', 'parameter server']);
  assert.equal(texts('servers', 'slotted', 'typed_workers').filter((text) => text === 'worker').length, 1);
  assert.ok(texts('jobs', 'colocation').includes('suspended'));
  assert.ok(!texts('servers', 'colocation').includes('suspended'));
  assert.ok(texts('servers', 'colocation').includes('regrouped'));
});

test('every mark of a legend has a style', () => {
  const css = readFileSync(new URL('../css/app.css', ROOT), 'utf8');
  const marks = EVERY.flatMap((name) => modelOf(name).legend.map(({ mark }) => mark));
  for (const mark of new Set(marks)) assert.match(css, new RegExp(`\\.${mark}\\b`), mark);
});
