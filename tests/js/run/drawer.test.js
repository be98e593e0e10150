// The drawer of a job that was rejected by payoff: what it costs, when it would finish, and what is listed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { barsTable } from '../../../static/js/run/drawer/bars-table.js';
import { costly, finishOf, finishSentence } from '../../../static/js/run/drawer/found-schedule.js';
import { fieldsTable } from '../../../static/js/run/drawer/fields-table.js';
import { payoffParts } from '../../../static/js/run/drawer/payoff.js';
import { needsPage, open, serve, until } from '../dom.js';

const HOUR = 3_600_000;
const FIELDS = ['job', 'role', 'server', 'start_ms', 'end_ms', 'count', 'died_ms'];
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

test('parts below a thousandth of the largest are not listed among what costs, however small that is', () => {
  assert.deepEqual(
    costly([0.0019, 0.002, 2, 0], (part) => part),
    [0.002, 2],
  );
  assert.deepEqual(
    costly([0.0011, 0.007, 0], (part) => part),
    [0.0011, 0.007],
  );
  assert.deepEqual(
    costly([0, 0], (part) => part),
    [],
  );
});

test('the drawer says it, marks the finish and lists what costs; a bar is the share itself', needsPage, async () => {
  open('/runs/1/', '<main><dialog id="drawer"></dialog></main>');
  const { Drawer } = await import('../../../static/js/run/drawer/job-drawer.js');
  const sentence = 'Rejected: its utility of 0.00 does not exceed its cost of 1.10 (payoff −1.10).';
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
    'Rejected: its utility of 0.00 does not exceed its cost of 1.10 (payoff −1.10).',
  );
  assert.equal(
    reason.querySelector('.found').textContent,
    'It would finish at 1d 12:00:00, 18h 30m after its utility has halved.',
  );
  const table = (title) =>
    [...element.querySelectorAll('section')].find((section) => section.textContent.startsWith(title));
  const rows = (title) => [...table(title).querySelectorAll('tbody tr')].map((row) => row.textContent);
  assert.deepEqual(rows('Cost by resource'), ['GPU1.1099.7 %', 'vCPU0.0030.3 %']);
  assert.equal(table('Cost by resource').querySelector('.meter i').style.width.slice(0, 5), '99.72');
  assert.equal(rows('Most expensive servers, resources and slots').length, 1);
  assert.match(
    element.querySelector('svg.utility').getAttribute('aria-label'),
    /Best schedule found: finish at 1d 12:00:00/,
  );
  assert.equal(element.querySelectorAll('svg.utility circle.finish').length, 1);
});

test(
  'the curve of the utility is drawn for the width of its place, at most for that of the drawer',
  needsPage,
  async () => {
    open();
    const { utilityCurve } = await import('../../../static/js/charts/utility-curve.js');
    const widthIn = (room) => {
      const curve = utilityCurve(WORTH, { finishMs: null, kind: 'planned', price: null, room });
      return curve.querySelector('svg').getAttribute('viewBox').split(' ')[2];
    };
    assert.deepEqual([widthIn(357), widthIn(900), widthIn(undefined)], ['357', '520', '520']);
  },
);

test('a utility that does not fall with time is stated once', needsPage, async () => {
  open();
  const { utilityCurve } = await import('../../../static/js/charts/utility-curve.js');
  const said = (worth) =>
    utilityCurve(worth, { finishMs: null, kind: 'planned', price: null })
      .querySelector('svg')
      .getAttribute('aria-label');
  assert.equal(
    said({ ...WORTH, sensitivity: 0 }),
    'Utility 33.00 whenever the job completes. No completion is planned.',
  );
  assert.match(said(WORTH), /33.00, half of the priority, if it completes 11.5 slots later/);
});

const admitted = (seq, atMs, cost) => ({
  seq,
  at_ms: atMs,
  kind: 'admitted',
  code: 'payoff_positive',
  values: { ...VALUES, utility: 22.17, cost, payoff: 22.17 - cost },
  sentence: 'Admitted.',
});

/** The drawer of a job with these decisions; ahead(): its forecast. */
async function drawn(decisions, state, ahead = () => null) {
  open('/runs/1/', '<main><dialog id="drawer"></dialog></main>');
  const { Drawer } = await import('../../../static/js/run/drawer/job-drawer.js');
  serve([
    ['/api/runs/1/jobs/6/counterfactuals/', { rows: [] }],
    ['/api/runs/1/jobs/6/', { id: 'j6', state, arrived_ms: 0, worth: WORTH, decisions, utility: 0 }],
  ]);
  const info = {
    ids: [],
    names: ['GPU', 'vCPU', 'memory', 'storage', 'bandwidth'],
    units: ['GPU', 'vCPU', 'GB', 'GB', 'Gbps'],
    phases: [{ from_ms: 0, title: 'OASiS', model: 'slotted' }],
    cluster: { slot_ms: HOUR, servers: [{ name: 'p09' }] },
  };
  const element = document.getElementById('drawer');
  const drawer = new Drawer(element, 1, info, { onShow() {}, onPick() {}, onClose() {} });
  drawer.ahead = ahead;
  drawer.open(6);
  await until(() => element.querySelector('.reason'), 'the story has come');
  return element;
}

test('the cost of a job that was admitted again is that of its newest plan', needsPage, async () => {
  const lost = { seq: 4, at_ms: HOUR, kind: 'preempted', code: 'place_taken', values: { phase: 1 }, sentence: 'Lost.' };
  const sum = (element) => [...element.querySelectorAll('.sum > div')].map((box) => box.textContent);
  const again = await drawn([admitted(3, 0, 1.58), lost, admitted(5, HOUR, 1.38)], 'planned');
  assert.deepEqual(sum(again), ['Utility22.17', 'Cost paid1.38', 'Payoff = utility − cost20.79']);
  assert.match(again.textContent, /What would have changed the first decision/);
  const refused = { ...admitted(5, HOUR, 30), kind: 'rejected', code: 'payoff_not_positive', sentence: 'Rejected.' };
  const rejected = await drawn([admitted(3, 0, 1.58), lost, refused], 'rejected');
  assert.deepEqual(sum(rejected).slice(1), ['Cost at current prices30.00', 'Payoff = utility − cost−7.83']);
  const taken = { seq: 5, at_ms: HOUR, kind: 'started', code: 'in_order', values: {}, sentence: 'Started in order.' };
  const other = await drawn([admitted(3, 0, 1.58), lost, taken], 'running');
  assert.deepEqual(sum(other), [], 'a scheduler without prices has started it');
});

test('a job with a forecast is not said to have no planned finish', needsPage, async () => {
  const waits = { seq: 3, at_ms: 0, kind: 'waits', code: 'x', values: {}, sentence: 'Waiting.' };
  const text = async (ahead) => (await drawn([waits], 'queued', ahead)).textContent;
  assert.match(await text(() => null), /No finish is planned yet/);
  assert.doesNotMatch(await text(() => document.createElement('p')), /No finish is planned yet/);
});

test('of many decisions the first and the last are shown, and the others on request', needsPage, async () => {
  const round = (seq) => ({ seq, at_ms: seq, kind: 'started', code: 'x', values: {}, sentence: `Round ${seq}.` });
  const rounds = Array.from({ length: 98 }, (_, seq) => round(seq));
  const element = await drawn(rounds, 'running');
  const texts = () => [...element.querySelectorAll('.reason')].map((one) => /Round \d+/.exec(one.textContent)[0]);
  assert.deepEqual(texts(), ['Round 0', 'Round 1', 'Round 95', 'Round 96', 'Round 97']);
  const button = [...element.querySelectorAll('button')].find((one) => one.textContent === 'Show 93 more decisions');
  button.click();
  assert.deepEqual(texts().length, 98);
  assert.equal(document.activeElement.id, 'drawer-close');
  assert.equal((await drawn(rounds.slice(0, 8), 'running')).querySelectorAll('.reason').length, 8);
});

test('the kind of a decision is not repeated by its sentence', async () => {
  const { leadOf } = await import('../../../static/js/run/drawer/job-drawer.js');
  assert.deepEqual(leadOf('rejected', 'Rejected: no samples.'), ['Rejected:', ' no samples.']);
  assert.deepEqual(leadOf('started', 'Started in order of arrival.'), ['Started', ' in order of arrival.']);
  assert.deepEqual(leadOf('waits', 'Waiting.'), ['Waiting', '.']);
  assert.deepEqual(leadOf('resized', 'Allocated 2 workers.'), ['Resized.', ' Allocated 2 workers.']);
});

test('a job without decisions is queued only if that is its state', async () => {
  const { undecidedText } = await import('../../../static/js/run/drawer/job-drawer.js');
  assert.equal(undecidedText('queued'), 'Queued: no decision yet.');
  assert.equal(undecidedText('not arrived'), 'This job has not arrived yet.');
  assert.equal(undecidedText('completed'), 'The log has no decision about this job.');
});

test('a bar that has not ended has no end in the table', needsPage, () => {
  open('/', '');
  const story = { bar_fields: ['role', 'server', 'count', 'start_ms', 'end_ms', 'died_ms'] };
  const bars = [
    [0, 0, 1, 0, 3_600_000, -1],
    [0, 0, 1, 3_600_000, 2 ** 53, -1],
  ];
  const ends = [...barsTable({ ...story, bars }, String).querySelectorAll('tbody td:last-child')];
  assert.deepEqual(
    ends.map((cell) => cell.textContent),
    ['01:00:00', 'open'],
  );
});

test('the drawer has its sections in order, with links to the schedule and the events', needsPage, async () => {
  open('/runs/1/', '<main><dialog id="drawer"></dialog></main>');
  const { Drawer } = await import('../../../static/js/run/drawer/job-drawer.js');
  const story = {
    id: 'j6',
    state: 'completed',
    arrived_ms: HOUR,
    completed_ms: 5 * HOUR,
    jct_ms: 4 * HOUR,
    utility: 0,
    fields: [{ name: 'requested_workers', value: 2, provenance: 'trace' }],
    decisions: [{ seq: 3, at_ms: 2 * HOUR, kind: 'started', code: 'x', values: {}, sentence: 'Started in order.' }],
    bar_fields: FIELDS,
    bars: [[6, 0, 0, 2 * HOUR, 5 * HOUR, 2, -1]],
  };
  serve([['/api/runs/1/jobs/6/', story]]);
  const info = {
    ids: [],
    phases: [{ from_ms: 0, title: 'FIFO', model: 'slotted' }],
    cluster: { slot_ms: HOUR, servers: [{ name: 'p09' }] },
  };
  const went = [];
  const element = document.getElementById('drawer');
  const options = { onShow() {}, onPick() {}, onClose() {}, shownMs: () => 6 * HOUR };
  new Drawer(element, 1, info, { ...options, goTo: (where, job) => went.push([where, job]) }).open(6);
  await until(() => element.querySelector('.reason'), 'the story has come');
  assert.deepEqual(
    [...element.querySelectorAll('.step > h2')].map(({ textContent }) => textContent),
    [
      'Arrival01:00:00',
      'Decisions',
      'Executionfrom 02:00:00 (1h after arrival) to 05:00:00 (4h after arrival)',
      'Completed05:00:00 (4h after arrival)',
    ],
  );
  assert.match(element.querySelector('.decided').textContent, /^decided at 02:00:00 \(1h after arrival\)/);
  assert.match(element.textContent, /On p09, at most 2 workers at a time\./);
  for (const button of element.querySelectorAll(':scope > .actions button')) button.click();
  assert.deepEqual(went, [
    ['schedule', 6],
    ['events', 6],
  ]);
});

test('utility, cost and payoff have the digits of the sentence of the decision', needsPage, () => {
  open();
  const info = { names: [], units: [] };
  const pinned = JSON.parse(readFileSync(new URL('../../fixtures/payoff_texts.json', import.meta.url), 'utf8'));
  for (const { values, texts } of pinned) {
    const [utility, cost, payoff] = values;
    const [sum] = payoffParts({ utility, cost, payoff }, info, true, () => '');
    assert.deepEqual(
      [...sum.querySelectorAll('b')].map((shown) => shown.textContent),
      texts,
    );
  }
});

test('fields without provenance have no column of it', needsPage, () => {
  open();
  const heads = (fields) => [...fieldsTable({ fields }).querySelectorAll('th')].map((head) => head.textContent);
  const field = { name: 'id', value: '7' };
  assert.deepEqual(heads([{ ...field, provenance: null }]), ['Field', 'Value']);
  assert.deepEqual(heads([{ ...field, provenance: 'trace' }]), ['Field', 'Value', 'Provenance']);
});
