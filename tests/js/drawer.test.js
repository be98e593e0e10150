// The drawer of a job that was rejected by payoff: what it costs, when it would finish, and what is listed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { costly, finishOf, finishSentence } from '../../static/js/run/drawer/found-schedule.js';
import { needsPage, open, serve, until } from './dom.js';

const HOUR = 3_600_000;
const WORTH = { slot_ms: HOUR, from_slot: 5, priority: 66, sensitivity: 2, target_slots: 11.5 };
const VALUES = {
  utility: 0,
  cost: 1.1,
  payoff: -1.1,
  start_slot: 7,
  finish_slot: 35,
  workers_peak: 53,
  cost_by_resource: [1.097, 0.003, 0, 0, 0],
  cells: [
    [0, 0, 9, 0.5, 0.6],
    [0, 1, 9, 2.6e-5, 0.0001],
  ],
};

test('the finish of the best schedule is compared with the moment at which the value halves', () => {
  assert.equal(finishOf(VALUES, WORTH), 36 * HOUR);
  assert.equal(finishSentence(VALUES, WORTH), 'It would finish at 1d 12:00:00, 18h 30m after its utility has halved.');
  assert.equal(
    finishSentence({ finish_slot: 6 }, WORTH),
    'It would finish at 07:00:00, 10h 30m before its utility halves.',
  );
  assert.equal(
    finishSentence({ finish_slot: 6 }, { ...WORTH, target_slots: 1 }),
    'It would finish at 07:00:00, when its utility has halved.',
  );
  assert.equal(finishSentence(VALUES, { ...WORTH, sensitivity: 0 }), 'It would finish at 1d 12:00:00.');
});

test('what is written as 0.00 is not listed among what costs', () => {
  assert.deepEqual(
    costly([0.0049, 0.005, 2, 0], (part) => part),
    [0.005, 2],
  );
});

test('the drawer says it, marks the finish and lists what costs; a bar is the share itself', needsPage, async () => {
  open('/runs/1/', '<main><dialog id="drawer"></dialog></main>');
  const { Drawer } = await import('../../static/js/run/drawer/job-drawer.js');
  const sentence = 'Rejected: its utility of 0.00 does not exceed its cost of 1.10 (payoff -1.10).';
  const decision = { seq: 3, at_ms: 0, kind: 'rejected', code: 'payoff_not_positive', values: VALUES, sentence };
  const story = { id: 'j6', state: 'rejected', arrived_ms: 0, worth: WORTH, decisions: [decision], utility: 0 };
  serve([
    ['/api/runs/1/jobs/6/counterfactuals/', { rows: [] }],
    ['/api/runs/1/jobs/6/', story],
  ]);
  const info = {
    ids: [],
    names: ['GPU', 'vCPU', 'memory', 'storage', 'bandwidth'],
    units: ['GPU', 'vCPU', 'GB', 'GB', 'Gbps'],
    phases: [{ from_ms: 0, title: 'OASiS', model: 'slotted' }],
    cluster: { slot_ms: HOUR, servers: [{ name: 'p09' }] },
  };
  const element = document.getElementById('drawer');
  new Drawer(element, 1, info, { onShow() {}, onPick() {}, onClose() {} }).open(6);
  const reason = await until(() => element.querySelector('.reason'), 'the story has come');
  assert.equal(
    reason.firstChild.textContent + reason.childNodes[1].textContent,
    'Rejected: its utility of 0.00 does not exceed its cost of 1.10 (payoff -1.10).',
  );
  assert.equal(
    reason.querySelector('.found').textContent,
    'It would finish at 1d 12:00:00, 18h 30m after its utility has halved.',
  );
  const table = (title) =>
    [...element.querySelectorAll('section')].find((section) => section.textContent.startsWith(title));
  const rows = (title) => [...table(title).querySelectorAll('tbody tr')].map((row) => row.textContent);
  assert.deepEqual(rows('Cost by resource'), ['GPU1.1099.7 %']);
  assert.equal(table('Cost by resource').querySelector('.meter i').style.width.slice(0, 5), '99.72');
  assert.equal(rows('Most expensive cells').length, 1);
  assert.match(
    element.querySelector('svg.utility').getAttribute('aria-label'),
    /Best schedule found: finish at 1d 12:00:00/,
  );
  assert.equal(element.querySelectorAll('svg.utility circle.finish').length, 1);
});

test('the kind of a decision is not repeated by its sentence', async () => {
  const { leadOf } = await import('../../static/js/run/drawer/job-drawer.js');
  assert.deepEqual(leadOf('rejected', 'Rejected: no samples.'), ['Rejected:', ' no samples.']);
  assert.deepEqual(leadOf('started', 'Started in order of arrival.'), ['Started', ' in order of arrival.']);
  assert.deepEqual(leadOf('waits', 'Waiting.'), ['Waiting', '.']);
  assert.deepEqual(leadOf('resized', 'Allocated 2 workers.'), ['Resized.', ' Allocated 2 workers.']);
});

test('a job without decisions is queued only if that is its state', async () => {
  const { undecidedText } = await import('../../static/js/run/drawer/job-drawer.js');
  assert.equal(undecidedText('queued'), 'Queued: no decision yet.');
  assert.equal(undecidedText('not arrived'), 'This job has not arrived yet.');
  assert.equal(undecidedText('completed'), 'The log has no decision about this job.');
});
