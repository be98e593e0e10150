// Jobs pasted into the form of an edit, the preview of what is being typed, and flags of changes of the scheduler.

import assert from 'node:assert/strict';
import test from 'node:test';

import { isLines, pastedJobs } from '../../../static/js/scenarios/pasted-jobs.js';
import { needsPage, open } from '../dom.js';

const HOUR = 3_600_000;

test('each line is an edit: job, number, arrival, interval; all but the job may be omitted', () => {
  const { edits } = pastedJobs('j0005, 3, 1d 03:00, 10 min\nj7\n\nj8;2\nj9\t1\t2h', HOUR);
  assert.deepEqual(edits, [
    { verb: 'add_jobs', at_ms: HOUR, like: 'j0005', count: 3, arrival_ms: 27 * HOUR, every_ms: 600_000 },
    { verb: 'add_jobs', at_ms: HOUR, like: 'j7', count: 1 },
    { verb: 'add_jobs', at_ms: HOUR, like: 'j8', count: 2 },
    { verb: 'add_jobs', at_ms: HOUR, like: 'j9', count: 1, arrival_ms: 2 * HOUR },
  ]);
});

test('a line with the names of columns is skipped, and quotes around cells are left out', () => {
  const { edits } = pastedJobs('job,number of jobs,arrival\r\n"j 1",2,\r\n', 0);
  assert.deepEqual(edits, [{ verb: 'add_jobs', at_ms: 0, like: 'j 1', count: 2 }]);
});

test('what is wrong is named with its line, the rule, the value and what would work', () => {
  const error = (text, at = 0) => pastedJobs(text, at).error;
  assert.equal(error('j1,2\nj2,0'), 'Pasted jobs, line 2: the number of jobs is a whole number from 1 on, got “0”.');
  assert.equal(
    error('j1,2,soon'),
    'Pasted jobs, line 1: “soon” is not a time; enter one, for example 2d 03:15 or 3h 58m.',
  );
  assert.match(error('j1,1,1h', 2 * HOUR), /line 1: the arrival “1h” is before the edit takes effect; enter a later/);
  assert.match(error(',2'), /line 1: the job to copy is missing/);
  assert.match(
    error('j1,1,1h,1m,x'),
    /line 1: it has 5 cells; at most 4: job to copy, number of jobs, arrival, interval/,
  );
  assert.equal(error(' \n'), 'Pasted jobs: there is no line with a job.');
  assert.match(error('j1\n'.repeat(201)), /at most 200 edits, got 201 lines; paste fewer\./);
  assert.equal(isLines('j0005'), false);
  assert.equal(isLines('j0005\n'), false);
  assert.equal(isLines('j0005,2'), true);
});

const VERBS = [
  {
    name: 'add_jobs',
    title: 'Add jobs',
    about: '',
    later: false,
    parameters: [{ name: 'like', type: 'str', default: '', title: 'Job to copy', help: '', optional: false }],
  },
];

async function formOf() {
  open('/scenarios/1/', '<main><form id="add"></form></main>');
  const { EditForm } = await import('../../../static/js/scenarios/edits/edit-form.js');
  const done = [];
  const inputs = [];
  const form = new EditForm(document.getElementById('add'), {
    verbs: VERBS,
    leastMs: HOUR,
    laterMs: HOUR,
    wholeTitle: '',
    onDone: (edits, place) => done.push([edits, place]),
    onFilled() {},
    onInput: () => inputs.push(form?.peek()),
  });
  return { form, done, inputs, element: document.getElementById('add') };
}

const typed = (control, text) => {
  control.value = text;
  control.dispatchEvent(new document.defaultView.Event('input', { bubbles: true }));
};

test('what is typed can be previewed while it is incomplete, without an error in the form', needsPage, async () => {
  const { form, element, inputs } = await formOf();
  typed(element.querySelector('[data-parameter="like"]'), 'j3');
  assert.deepEqual(form.peek(), [{ verb: 'add_jobs', at_ms: HOUR, like: 'j3' }]);
  assert.ok(inputs.length);
  typed(element.querySelector('#e-at'), 'some day');
  assert.equal(form.peek(), null);
  assert.equal(element.querySelector('.error.wide').hidden, true);
  assert.equal(form.take(), false);
  assert.match(element.querySelector('.error.wide').textContent, /“some day” is not a time/);
});

test('pasted lines become edits together; lines that are pasted into a field go to the box', needsPage, async () => {
  const { form, element, done } = await formOf();
  const paste = Object.assign(new document.defaultView.Event('paste', { bubbles: true, cancelable: true }), {
    clipboardData: { getData: () => 'j1,2\nj2' },
  });
  element.querySelector('[data-parameter="like"]').dispatchEvent(paste);
  assert.equal(element.querySelector('#e-lines').value, 'j1,2\nj2');
  assert.equal(form.take(), true);
  assert.deepEqual(
    done.map(([edits, place]) => [edits.map(({ like, count, at_ms: at }) => [like, count, at]), place]),
    [
      [
        [
          ['j1', 2, HOUR],
          ['j2', 1, HOUR],
        ],
        null,
      ],
    ],
  );
  typed(element.querySelector('#e-lines'), 'j1,many,1h');
  assert.equal(form.take(), false);
  assert.match(element.querySelector('.error.wide').textContent, /^Pasted jobs, line 1: the number of jobs is a whole/);
});

test('the flag of a change of scheduler has its name; one that is typed has a plus', needsPage, async () => {
  open('/scenarios/1/', '<main><div id="strip"></div></main>');
  const { paintStrip } = await import('../../../static/js/charts/edit-timeline.js');
  paintStrip(document.getElementById('strip'), {
    edits: [
      { verb: 'fail_servers', at_ms: HOUR },
      { verb: 'change_scheduler', scheduler: 'drf', at_ms: 2 * HOUR },
    ],
    typed: [{ verb: 'change_scheduler', scheduler: 'fifo', at_ms: 3 * HOUR }],
    nameOf: (name) => name.toUpperCase(),
    from: 0,
    to: 10 * HOUR,
    least: 0,
    isPast: () => false,
    fork: null,
    editable: true,
  });
  const flags = [...document.querySelectorAll('.flag')];
  assert.deepEqual(
    flags.map((flag) => [flag.textContent, flag.className]),
    [
      ['1', 'flag'],
      ['2 DRF', 'flag scheduler'],
      ['+ FIFO', 'flag typed scheduler'],
    ],
  );
});

test('flags that would cover each other stand in rows, beyond four beside each other', async () => {
  const { flagRows } = await import('../../../static/js/charts/layouts/flag-rows.js');
  const at = (x, text = '1') => ({ x, text });
  assert.deepEqual(flagRows([at(100), at(0), at(110), at(122)]), [
    { row: 0, shift: 0 },
    { row: 0, shift: 0 },
    { row: 1, shift: 0 },
    { row: 0, shift: 0 },
  ]);
  assert.deepEqual(
    flagRows(Array.from({ length: 6 }, () => at(50))).map(({ row, shift }) => [row, shift]),
    [0, 1, 2, 3, 0, 1].map((row, i) => [row, i < 4 ? 0 : 22]),
  );
  assert.deepEqual(flagRows([at(0, '2 FIFO'), at(50)])[1], { row: 1, shift: 0 }, 'a named flag is wider');
});

test('a flag that is dragged to the end of the strip stays before the end of the scenario', needsPage, async () => {
  const window = open('/scenarios/1/', '<main><div id="strip"></div></main>');
  const { paintStrip } = await import('../../../static/js/charts/edit-timeline.js');
  const moved = [];
  paintStrip(document.getElementById('strip'), {
    edits: [{ verb: 'fail_servers', at_ms: HOUR }],
    from: 0,
    to: 10 * HOUR,
    least: 0,
    ends: 10 * HOUR,
    isPast: () => false,
    fork: null,
    editable: true,
    onMove: (place, atMs) => moved.push([place, atMs]),
  });
  const flag = document.querySelector('.flag');
  flag.setPointerCapture = () => {};
  for (const kind of ['pointerdown', 'pointermove', 'pointerup'])
    flag.dispatchEvent(new window.MouseEvent(kind, { clientX: 10_000, bubbles: true }));
  assert.deepEqual(moved, [[0, 10 * HOUR - 60_000]]);
});
