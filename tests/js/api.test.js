// Requests of the page: refusals as sentences, and repetitions after too many requests.

import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';

globalThis.document ??= /** @type {any} */ ({ querySelector: () => null });
const { get, getColumns, post } = await import('../../static/js/core/api.js');

const answer = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const busy = (wait = '0.001') =>
  answer(429, { detail: 'This account sent too many requests; try again in 1 s.' }, { 'Retry-After': wait });

/** Answers in this order; the last one from then on. */
function answers(...list) {
  const asked = mock.fn(async () => (list.length > 1 ? list.shift() : list[0]()));
  globalThis.fetch = /** @type {any} */ (asked);
  return asked.mock;
}

afterEach(() => mock.reset());

test('a GET is repeated after the time that the server names', async () => {
  const calls = answers(busy(), busy(), () => answer(200, { jobs: 3 }));
  assert.deepEqual(await get('/api/runs/'), { jobs: 3 });
  assert.equal(calls.callCount(), 3);
});

test('a lasting limit is reported after a bounded number of repetitions', async () => {
  const calls = answers(() => busy());
  await assert.rejects(get('/api/runs/'), /This account sent too many requests; try again in 1 s\./);
  assert.equal(calls.callCount(), 5);
  await assert.rejects(getColumns('/api/runs/1/snapshot/'), /too many requests/);
  assert.equal(calls.callCount(), 10);
});

test('a long wait is reported at once, and a change is never sent twice', async () => {
  const calls = answers(() => busy('60'));
  await assert.rejects(get('/api/runs/'), /too many requests/);
  assert.equal(calls.callCount(), 1);
  answers(() => busy());
  await assert.rejects(post('/api/runs/', {}), /too many requests/);
  assert.equal(/** @type {any} */ (globalThis.fetch).mock.callCount(), 1);
});

test('a refusal has its sentence, and the sentences of its fields', async () => {
  answers(() => answer(400, { speed: ['A valid number is required.'], detail: 'speed: A valid number is required.' }));
  await assert.rejects(post('/api/runs/1/clock/', {}), (error) => {
    assert.equal(error.message, 'speed: A valid number is required.');
    assert.deepEqual(error.fields, { speed: 'A valid number is required.' });
    return true;
  });
  answers(() => answer(409, { detail: 'Edited by another user.', edits: [] }));
  await assert.rejects(post('/api/scenarios/1/edits/', {}), (error) => {
    assert.equal(error.fields, undefined);
    return true;
  });
});
