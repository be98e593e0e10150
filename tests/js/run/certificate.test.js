import assert from 'node:assert/strict';
import test from 'node:test';

const { claims, due, leftOut, result, sentence } = await import('../../../static/js/run/panels/certificate.js');

const certificate = {
  kind: 'lp_priced_dual',
  achieved: 1187.51,
  bound: 2076.4,
  ratio: 0.5337,
  jobs: 80,
  at_ms: 3_600_000,
  slots: 100,
  seconds: 0.11,
};

test('the share is rounded down and the proof has its name', () => {
  const text = sentence(certificate);
  assert.match(text, /^Utility of completed and planned jobs: 1,187\.5\./);
  assert.match(
    text,
    /80 jobs known at 01:00:00 can earn more than 2,076\.4\. Bound: the prices of the linear relaxation/,
  );
  assert.match(text, /at least 53\.37 % of the optimum/);
});

test('the result of a certificate is a figure, rounded so that it is proved', () => {
  assert.deepEqual(result(certificate), ['≥ 53.37 %', 'of the optimal utility']);
  const times = { kind: 'jct_iso', achieved: 7_200_001, bound: 3_600_000, ratio: 0.5 };
  assert.deepEqual(result(times), ['≤ 2.001 ×', 'the optimal total completion time']);
  assert.deepEqual(result({ ...times, kind: 'longest_job', achieved: 3_600_000 }), [
    '≤ 1.000 ×',
    'the optimal makespan',
  ]);
  for (const none of [undefined, {}, { kind: 'none' }, { ...times, achieved: 0 }, { ...certificate, ratio: null }])
    assert.equal(result(none), null);
});

test('without a certificate nothing is claimed', () => {
  assert.equal(sentence(null), '');
  assert.equal(sentence({}), '');
  assert.equal(sentence({ kind: 'none', why: 'MemoryError: no room' }), 'No certificate: MemoryError: no room.');
  assert.match(sentence({ ...certificate, bound: 0, achieved: 0, ratio: null }), /No job can earn any utility/);
});

test('a certificate of no job claims nothing', () => {
  assert.equal(sentence({ ...certificate, jobs: 0, achieved: 0, bound: 0, ratio: null }), '');
  assert.equal(claims({ ...certificate, jobs: 0 }), false);
  assert.equal(claims({ kind: 'none', why: 'the computation failed' }), false);
  assert.equal(claims({ kind: 'jct_iso', jobs: 4, achieved: 0 }), false);
  assert.equal(claims(null), false);
  assert.ok(claims(certificate));
});

test('jobs that arrived after a certificate are counted', () => {
  assert.equal(leftOut(certificate, 80), '');
  assert.equal(leftOut(certificate, 97), 'It covers the jobs known at 01:00:00, not 17 later jobs.');
  assert.equal(leftOut({ kind: 'none' }, 97), '');
});

test('a bound that was made coarser to limit its cost says so', () => {
  assert.doesNotMatch(sentence(certificate), /sample/);
  assert.doesNotMatch(sentence(certificate), /training model/);
  assert.match(
    sentence({ ...certificate, training: 'PD-ORS' }),
    /, with the training model PD-ORS, can earn more than /,
  );
  assert.match(sentence({ ...certificate, sampled: 2000 }), /prices come from a sample of 2,000 jobs/);
  const times = { kind: 'jct_iso', achieved: 7_200_000, bound: 3_600_000, ratio: 0.5, jobs: 9, at_ms: 0, seconds: 1 };
  assert.doesNotMatch(sentence(times), /coarser/);
  assert.match(sentence({ ...times, coarse: true }), /coarser than for smaller runs/);
});

test('a bound job by job says whether chunks stay whole or work is spread over workers', () => {
  const times = { kind: 'jct_iso', achieved: 7_200_000, bound: 3_600_000, ratio: 0.5, jobs: 9, at_ms: 0, seconds: 1 };
  assert.match(
    sentence({ ...times, gangs: false }),
    /Bound: the completion time of each job alone .* with undivided chunks\./,
  );
  assert.match(sentence({ ...times, gangs: true }), /Bound: the sum over the jobs .* at most one worker per chunk\./);
  assert.doesNotMatch(sentence({ ...times, gangs: true }), /empty cluster/);
});

test('a schedule without the cloud is also compared with such schedules', () => {
  const times = { kind: 'jct_lb', achieved: 7_200_000, bound: 1_800_000, ratio: 0.25, jobs: 9, at_ms: 0, seconds: 1 };
  assert.doesNotMatch(sentence(times), /Without the cloud/);
  const edge = { kind: 'jct_lb', bound: 3_600_000, ratio: 0.5 };
  assert.match(
    sentence({ ...times, edge_only: edge }),
    /factor of 4\.000 .* Without the unlimited cloud, as here, no schedule can take less than 1h: .* factor of 2\.000/,
  );
});

test('a run that has ended says that its final certificate is still to be computed', () => {
  const early = { ...certificate, seq: 40 };
  assert.match(due({ certificate: early, status: 'finished', last_seq: 90 }), /final certificate is still to be/);
  assert.equal(due({ certificate: early, status: 'running', last_seq: 90 }), '');
  assert.equal(due({ certificate: early, status: 'finished', last_seq: 40 }), '');
  assert.equal(due({ certificate: { ...early, why: 'cancelled' }, status: 'finished', last_seq: 90 }), '');
  assert.equal(due({ certificate: null, status: 'finished', last_seq: 90 }), '');
});
