// The colours of the jobs on the page of a server: which jobs are in the time range, and their keys.

import assert from 'node:assert/strict';
import test from 'node:test';

import { NEVER } from '../../../static/js/core/columns/bars.js';
import { needsPage, open } from '../dom.js';

const SECTION = `<section id="job-key" hidden><header><span class="small"></span></header>
  <div class="legend"></div></section>`;
const BARS = {
  job: [3, 1, 3, 12],
  start_ms: [0, 5, 20, 30],
  end_ms: [10, 15, 30, 40],
  born_ms: [0, 0, 0, 0],
  died_ms: [NEVER, NEVER, NEVER, NEVER],
};

async function made(options = {}) {
  open('/', SECTION);
  const { JobKey, jobsWithin } = await import('../../../static/js/run/server/job-key.js');
  const section = document.querySelector('#job-key');
  return {
    section,
    jobsWithin,
    key: new JobKey(section, { nameOf: (job) => `j${job}`, onPick: () => {}, ...options }),
  };
}

test('jobs are those with a bar in the range, in the order of their first bars there', needsPage, async () => {
  const { jobsWithin } = await made();
  assert.deepEqual(jobsWithin(BARS, [0, 1, 2, 3], 0, 50, 50), [3, 1, 12]);
  assert.deepEqual(jobsWithin(BARS, [0, 1, 2, 3], 10, 25, 50), [1, 3]);
  assert.deepEqual(jobsWithin(BARS, [1], 0, 50, 50), [1], 'only bars of this server');
});

test('each job has its colour and its name, and is picked by a click', needsPage, async () => {
  const picked = [];
  const { section, key } = await made({ onPick: (job) => picked.push(job) });
  key.paint([3, 12]);
  const buttons = [...section.querySelectorAll('button')];
  assert.deepEqual(
    buttons.map((button) => [button.textContent, button.querySelector('i').className]),
    [
      ['j3', 'swatch job-3'],
      ['j12', 'swatch job-4'],
    ],
  );
  assert.equal(section.querySelector('.small').textContent, '2 jobs in the time range shown');
  buttons[1].click();
  assert.deepEqual(picked, [12]);
  key.paint([]);
  assert.equal(section.hidden, true);
});

test(
  'with more jobs than colours it says that they repeat, and counts those that it does not name',
  needsPage,
  async () => {
    const { section, key } = await made();
    key.paint(Array.from({ length: 45 }, (_, job) => job));
    assert.match(section.querySelector('.small').textContent, /; colours repeat$/);
    assert.equal(section.querySelectorAll('button').length, 40);
    assert.match(section.querySelector('.legend').textContent, /and 5 more$/);
  },
);
