// Requests of the page: refusals as sentences, and repetitions after too many requests.

import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';

globalThis.document ??= /** @type {any} */ ({ querySelector: () => null });
const { get, getColumns, post } = await import('../../../static/js/core/api.js');

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

/** The page of this account, with the token of its session. */
const accountPage = (account) =>
  new Response(`<meta name="csrf-token" content="new1"><body data-role="operator" data-account="${account}">`);
const ofEarlierLogin = () => answer(403, { detail: 'The CSRF token is of an earlier login.', code: 'csrf' });

test('after a new login in another tab a change is repeated with the new token', async () => {
  const meta = { content: 'old', getAttribute: () => meta.content, setAttribute: (_, value) => (meta.content = value) };
  const before = globalThis.document;
  globalThis.document = /** @type {any} */ ({ querySelector: () => meta, body: { dataset: { account: '7' } } });
  try {
    const calls = answers(ofEarlierLogin(), accountPage(7), () => answer(200, { version: 2 }));
    assert.deepEqual(await post('/api/scenarios/1/edits/', {}), { version: 2 });
    const tokens = calls.calls.map(({ arguments: [, options] }) => options.headers?.['X-CSRFToken']);
    assert.deepEqual(tokens, ['old', undefined, 'new1']);
    assert.equal(meta.content, 'new1');
    const others = answers(ofEarlierLogin(), () => accountPage(8));
    await assert.rejects(post('/api/runs/', {}), /Another account is logged in now; load the page again\./);
    assert.equal(others.callCount(), 2);
    const lasting = answers(ofEarlierLogin(), accountPage(7), ofEarlierLogin);
    await assert.rejects(post('/api/runs/', {}), /of an earlier login/);
    assert.equal(lasting.callCount(), 3);
  } finally {
    globalThis.document = before;
  }
});
