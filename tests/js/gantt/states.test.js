import assert from 'node:assert/strict';
import test from 'node:test';

const { stretchesOf } = await import('../../../static/js/gantt/layers/colocation/job-states.js');
const { memberships } = await import('../../../static/js/core/memberships.js');
const { searchSentence } = await import('../../../static/js/run/panels/oracle-gap.js');

const group = (id, jobs, ready, more = {}) => ({
  group: id,
  jobs,
  machines: 4,
  servers: [0, 1, 2, 3],
  ready_ms: ready,
  profiling: jobs.map(() => 0),
  ...more,
});
const of = (job, segments) => stretchesOf([...memberships(segments)].filter((one) => one.job === job));
const brief = (list) => list.map(({ state, from, until, data }) => [state, from, until, data?.group]);

test('a job is measured, suspended, moves, runs, and runs on when only ratios change', () => {
  const segments = [
    [0, 30, group(0, [5, 6], [0, 0], { profiling: [1, 1] })],
    [100, 200, group(1, [4, 6], [100, 120])],
    [200, 300, group(1, [4, 6], [100, 120])],
    [300, -1, group(1, [6], [120])],
  ];
  assert.deepEqual(brief(of(6, segments)), [
    ['profiling', 0, 30, 0],
    ['suspended', 30, 100, undefined],
    ['moving', 100, 120, 1],
    ['running', 120, -1, 1],
  ]);
});

test('a job that moves for longer than its group stands never runs in it', () => {
  const segments = [
    [0, 50, group(0, [1], [80])],
    [50, -1, group(0, [1], [80], { machines: 5, servers: [0, 1, 2, 3, 4] })],
  ];
  assert.deepEqual(brief(of(1, segments)), [
    ['moving', 0, 50, 0],
    ['moving', 50, 80, 0],
    ['running', 80, -1, 0],
  ]);
});

test('the comparison is named a search, with where it was made and how far off', () => {
  const moments = [
    { at_ms: 0, jobs: 80, score: 0.996, best: 1 },
    { at_ms: 3_600_000, jobs: 1, score: 0.5, best: 0.5 },
    { at_ms: 7_200_000, jobs: 20, score: 0.95, best: 0.94 },
  ];
  const text = searchSentence({ moments, regroupings: 40, most_jobs: 100, weight: 0.8 });
  assert.match(text, /^At 3 of 40 times with new groups, the score of the groups was compared with the best score of /);
  assert.match(text, /wider search: 0\.22 % above it on average and 0\.4 % below it at worst\. 00:00:00 with/);
  assert.match(text, /exhaustive for up to 8 jobs on up to 24 machines; otherwise it covers all numbers of jobs with/);
  assert.match(
    text,
    /00:00:00 with 80 jobs: 0\.4 % below; 01:00:00 with 1 job: equal; 02:00:00 with 20 jobs: 1\.06 % above/,
  );
});

test('where nothing is compared, why; where nothing is searched, nothing', () => {
  assert.equal(searchSentence(undefined), '');
  assert.equal(
    searchSentence({ why: 'jobs are on two sites' }),
    "No comparison with the Oracle's wider search: jobs are on two sites.",
  );
  assert.equal(searchSentence({ moments: [], regroupings: 0, most_jobs: 100, weight: 0.8 }), '');
  assert.equal(
    searchSentence({ moments: [], regroupings: 9, most_jobs: 100, weight: 0.8 }),
    "None of the 9 times with new groups was compared with the Oracle's wider search. " +
      'Only times with at most 100 jobs are compared, and only some of them.',
  );
  assert.match(
    searchSentence({ moments: [], regroupings: 1, most_jobs: 100, weight: 0.8 }),
    /^The only time with new groups was not compared /,
  );
});
