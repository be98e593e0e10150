import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { STEPS, progress, restart, skip, tick, wanted } from '../../../static/js/core/first-steps.js';
import { FirstSteps, links, runFor } from '../../../static/js/home/first-steps.js';
import { needsPage, open } from '../dom.js';

const CARD = readFileSync(new URL('../../../templates/_first_steps.html', import.meta.url), 'utf8').replace(
  /{%.*?%}/g,
  '',
);
const RUNS = [
  { id: 9, metrics: { rejected: 0 } },
  { id: 7, metrics: { rejected: 3 } },
  { id: 5, status: 'running' },
];

function card() {
  open('/', `<button id="show-steps" hidden></button>${CARD}`);
  return [document.querySelector('#first-steps'), document.querySelector('#show-steps')];
}

test('steps are ticked once, in their order, and unknown ones are not kept', needsPage, () => {
  card();
  restart();
  tick('fork');
  tick('rejected');
  tick('fork');
  assert.deepEqual(progress(), { done: ['rejected', 'fork'], skipped: false });
  tick('nothing');
  assert.deepEqual(progress().done, ['rejected', 'fork']);
});

test('what is stored by somebody else counts as the beginning', needsPage, () => {
  card();
  for (const text of ['{', '[]', '{"done": 3}', 'null']) {
    localStorage.setItem('first-steps', text);
    assert.deepEqual(progress(), { done: [], skipped: false }, text);
  }
});

test('the card shows each step of the template, what is done, and the way to the next', needsPage, () => {
  const [box, opener] = card();
  restart();
  tick('rejected');
  new FirstSteps(box, opener).paint(RUNS);
  assert.ok(!box.hidden);
  assert.deepEqual(
    [...box.querySelectorAll('[data-step]')].map((item) => item.dataset.step),
    STEPS,
  );
  const of = (step) => box.querySelector(`[data-step=${step}]`);
  assert.ok(of('rejected').classList.contains('done'));
  assert.ok(of('ask').classList.contains('next'));
  assert.equal(of('ask').querySelector('a').getAttribute('href'), '/runs/5/#panel-ask');
  assert.equal(box.querySelector('#steps-count').textContent, '1 of 6 done');
  assert.ok(opener.hidden);
});

test('a skipped card can be shown again, and a finished one starts again', needsPage, () => {
  const [box, opener] = card();
  restart();
  const steps = new FirstSteps(box, opener);
  steps.paint(RUNS);
  box.querySelector('#skip-steps').click();
  assert.ok(!wanted());
  assert.equal(document.documentElement.dataset.firstSteps, 'off');
  assert.ok(!opener.hidden);
  opener.click();
  assert.ok(wanted());
  for (const step of STEPS) tick(step);
  steps.paint();
  assert.equal(document.documentElement.dataset.firstSteps, 'off');
  opener.click();
  assert.deepEqual(progress(), { done: [], skipped: false });
  skip(false);
});

test('without a run only what needs none has a link', () => {
  assert.equal(runFor([]), undefined);
  assert.equal(runFor(RUNS).id, 7);
  assert.equal(runFor([{ id: 1 }]).id, 1);
  const none = links([]);
  assert.deepEqual(
    STEPS.filter((step) => none[step]),
    ['ask', 'compare', 'upload'],
  );
  assert.equal(none.ask, '/scenarios/');
  assert.equal(links([{ id: 1 }]).fork, '/runs/1/');
});
