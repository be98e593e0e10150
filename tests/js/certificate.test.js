import assert from 'node:assert/strict';
import test from 'node:test';

const { sentence } = await import('../../static/js/controls/certificate.js');

const certificate = { kind: 'lp_priced_dual', achieved: 1187.51, bound: 2076.4, ratio: 0.5337, jobs: 80, at_ms: 3_600_000, slots: 100, seconds: 0.11 };

test('the share is rounded down and the proof has its name', () => {
  const text = sentence(certificate);
  assert.match(text, /^Earned and promised: 1,187\.5\./);
  assert.match(text, /80 jobs known at 01:00:00 could earn more than 2,076\.4, by the prices of the linear relaxation/);
  assert.match(text, /at least 53\.37 % of the optimum/);
});

test('without a certificate nothing is claimed', () => {
  assert.equal(sentence(null), '');
  assert.equal(sentence({}), '');
  assert.equal(sentence({ kind: 'none', why: 'MemoryError: no room' }), 'No certificate: MemoryError: no room.');
  assert.match(sentence({ ...certificate, bound: 0, achieved: 0, ratio: null }), /No job can earn anything/);
});
