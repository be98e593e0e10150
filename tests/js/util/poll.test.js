// Polls: what they do after each kind of failure, and what the badge says then.

import assert from 'node:assert/strict';
import test from 'node:test';

import { ApiError } from '../../../static/js/core/api.js';
import { badgeText } from '../../../static/js/ui/connection-badge.js';
import { Poll } from '../../../static/js/util/poll.js';

const listeners = {};
globalThis.addEventListener = (name, action) => (listeners[name] = action);
globalThis.document ??= /** @type {any} */ ({ hidden: false });

/** A poll that gets these answers in order: an error, or whether to ask again. */
function polling(t, ...answers) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
  const asked = [];
  const ask = async () => {
    asked.push(Date.now() - 1_000_000);
    const answer = answers.shift() ?? true;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const poll = new Poll(ask, 5000, () => {});
  const pass = async (ms) => {
    for (let n = 0; n < ms; n += 500) {
      t.mock.timers.tick(500);
      for (let turn = 0; turn < 5; turn++) await null; // what waits for an answer goes on
    }
  };
  return { poll, asked, pass };
}

test('a poll goes on after a failure of the server, at growing intervals', async (t) => {
  const down = new ApiError('The server answered with status 502.', 502);
  const { poll, asked, pass } = polling(t, true, down, down, down, true, true);
  await poll.now();
  await pass(5000);
  assert.equal(poll.state, 'offline');
  assert.match(badgeText(poll, Date.now()), /^offline: last data .* ago; reconnecting$/);
  await pass(14_000);
  assert.deepEqual(asked, [0, 5000, 7000, 11_000, 19_000]);
  assert.equal(poll.state, 'live');
  await pass(5000);
  assert.equal(asked.at(-1), 24_000, 'the interval is as before');
});

test('a poll that asked too often, or did not reach the server, asks again', async (t) => {
  const { asked, poll, pass } = polling(t, new ApiError('too many', 429), new ApiError('not reached', 0), true);
  await poll.now();
  await pass(4000);
  assert.deepEqual(asked, [0, 2000, 4000]);
});

test('a refused poll is not called live, and asks again when the user returns to the page', async (t) => {
  const { poll, asked, pass } = polling(t, true, new ApiError('Nobody is logged in here.', 403), true);
  await poll.now();
  await pass(300_000);
  assert.deepEqual(asked, [0, 5000], 'the answer would be the same');
  assert.equal(badgeText(poll, Date.now()), 'not connected');
  await listeners.visibilitychange();
  await pass(500);
  assert.equal(asked.length, 3);
  assert.equal(poll.state, 'live');
});

test('an object that another team has now is not called deleted', async (t) => {
  const { poll } = polling(t, true, new ApiError('Sweep 3 does not exist; it may have been deleted.', 404));
  await poll.now();
  await poll.now();
  assert.equal(badgeText(poll, Date.now()), 'not available');
});

test('a deleted object is called deleted', async (t) => {
  const { poll } = polling(t, true, new ApiError('Sweep 3 was deleted by ann.', 404));
  await poll.now();
  await poll.now();
  assert.equal(badgeText(poll, Date.now()), 'deleted');
});
