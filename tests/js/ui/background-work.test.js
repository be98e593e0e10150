// Background work on a live cluster: its state in words, its cancel and its new request by an operator.

import assert from 'node:assert/strict';
import test from 'node:test';

import { workText } from '../../../static/js/ui/background-work.js';
import { needsPage, open } from '../dom.js';

test('the state is said in one sentence', () => {
  assert.equal(workText('computing', 'the drift audit'), 'The drift audit is being computed …');
  assert.equal(workText('cancelled', 'the metrics', true), 'The metrics were cancelled.');
  assert.equal(workText('', 'the forecast'), '');
});

test('an operator cancels the work and computes it again; a viewer sees its state', needsPage, async () => {
  open('/', '<div id="work" hidden></div>');
  const { BackgroundWork } = await import('../../../static/js/ui/background-work.js');
  const element = document.querySelector('#work');
  const asked = [];
  globalThis.fetch = async (address, { method }) => {
    asked.push(`${method} ${address}`);
    return asked.length < 3
      ? new Response(null, { status: 204 })
      : new Response('{"detail": "there is nothing to cancel"}', { status: 400 });
  };
  let changes = 0;
  const line = new BackgroundWork(element, {
    address: '/api/live/lab/audit/',
    name: 'the forecast',
    changed: () => (changes += 1),
  });
  const buttons = () => [...element.querySelectorAll('button')].filter(({ hidden }) => !hidden);
  const names = () => buttons().map(({ textContent }) => textContent);
  document.body.dataset.role = 'viewer';
  line.paint('computing');
  assert.deepEqual([element.hidden, names()], [false, []]);
  document.body.dataset.role = 'operator';
  for (const [state, name] of [
    ['computing', 'Cancel'],
    ['cancelled', 'Compute again'],
    ['computing', 'Cancel'],
  ]) {
    line.paint(state);
    assert.deepEqual(names(), [name]);
    buttons()[0].click();
    const before = changes;
    while (changes === before) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(asked, ['DELETE /api/live/lab/audit/', 'POST /api/live/lab/audit/', 'DELETE /api/live/lab/audit/']);
  line.paint('');
  assert.equal(element.hidden, false);
  assert.match(element.textContent, /there is nothing to cancel$/);
});
