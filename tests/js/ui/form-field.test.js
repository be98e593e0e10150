// Fields of forms: what counts as empty, and how an error is announced.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';
import { Rule } from '../../../static/js/plans/rule.js';
import { chooseForm } from '../../../static/js/traces/import-form.js';
import { numberField } from '../../../static/js/ui/fields/form-field.js';
import { parameterField, readParameters } from '../../../static/js/ui/fields/parameter-field.js';

/** As in a browser whose number field holds '1e'. */
function unreadable(input) {
  input.value = '';
  Object.defineProperty(input, 'validity', { configurable: true, value: { badInput: true } });
  input.dispatchEvent(new globalThis.window.Event('input', { bubbles: true }));
}

test('text that is no number is no empty field', needsPage, () => {
  open();
  const days = numberField('days', 'Days', { value: 3 });
  assert.equal(days.value(), 3);
  days.input.value = '';
  assert.equal(days.value(), undefined);
  unreadable(days.input);
  assert.ok(Number.isNaN(days.value()));
});

test('an error is announced as one', needsPage, () => {
  open();
  const days = numberField('days', 'Days');
  days.say('A number.');
  assert.equal(days.input.getAttribute('aria-invalid'), 'true');
  days.say('');
  assert.equal(days.input.hasAttribute('aria-invalid'), false);
});

const SCAN = {
  jobs: 9,
  servers: 0,
  arrivals: { from_ms: 0, bin_ms: 7_200_000, counts: [9] },
  report: { slot_ms: 60_000 },
};

test('the selection of an import refuses what it cannot read, and slots above a year', needsPage, () => {
  open();
  const trace = { id: 1, name: 'a', seed: 0, scan: SCAN };
  const { element, bar } = chooseForm(trace, { onWindow() {}, onDone() {} });
  const button = bar.find(({ id }) => id === 'import');
  const error = (id) => element.querySelector(`#${id}-error`).textContent;
  assert.equal(button.disabled, false);
  unreadable(element.querySelector('#c-from'));
  assert.equal(error('c-from'), 'Enter a number of at least 0 h.');
  assert.equal(button.disabled, true);
  const slot = element.querySelector('#c-slot');
  slot.value = '525601';
  slot.dispatchEvent(new globalThis.window.Event('input', { bubbles: true }));
  assert.equal(error('c-slot'), 'Enter a number greater than 0, at most 525,600 min (a year).');
});

test('a parameter that is no number is sent as such, so that the server refuses it', needsPage, () => {
  open();
  const declared = { name: 'timeout_ms', type: 'int', optional: true };
  const element = parameterField(declared);
  assert.deepEqual(readParameters(element), {});
  unreadable(element.querySelector('input'));
  assert.deepEqual(readParameters(element), { timeout_ms: 'not a number' });
});

test('a maximum number of jobs per plan that is no number is refused at its field and not sent', needsPage, () => {
  open();
  const sent = [];
  globalThis.fetch = async (...asked) => (sent.push(asked), { ok: true, status: 200, json: async () => ({}) });
  const element = document.createElement('div');
  document.body.append(element);
  const rule = new Rule(element, document.createElement('div'), {
    name: 'lab',
    operator: true,
    approver: true,
    onChange() {},
  });
  const levels = [{ level: 0, name: 'observe', about: '' }];
  rule.paint({ level: 0, levels, queues: [], accounts: [], max_jobs: 20, calibrated: true, actor: {}, stopped: '' });
  const { input, element: shown } = rule.fields.max_jobs;
  unreadable(input);
  rule.form.dispatchEvent(new globalThis.window.Event('submit', { bubbles: true, cancelable: true }));
  assert.equal(input.getAttribute('aria-invalid'), 'true');
  assert.match(shown.textContent, /must be a whole number of at least 1/);
  assert.deepEqual(sent, []);
});
