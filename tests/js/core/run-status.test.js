// The status of a run, from the socket of the overview: what a page without the bars of the run knows of it.

import assert from 'node:assert/strict';
import test from 'node:test';

import { ApiError } from '../../../static/js/core/api.js';
import { RunStatus } from '../../../static/js/core/sockets/run-status.js';
import { badgeText } from '../../../static/js/ui/connection-badge.js';
import { World } from '../world.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const of = (status, more = {}) => ({ id: 7, status, last_seq: 30, sim_ms: 90_000, end_ms: null, ...more });

/** A run whose status the server answers in order; the last answer is given again and again. */
async function following(...answers) {
  const world = new World();
  const [asked, told] = [[], []];
  const get = async (path) => {
    asked.push(path);
    const answer = await (answers.length > 1 ? answers.shift() : answers[0]);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const failed = [];
  const load = (request, again) => request.catch(({ message }) => void failed.push([message, again]));
  const run = new RunStatus(7, { load, forget: () => failed.splice(0) }, world, { get });
  run.addEventListener('status', ({ detail }) => told.push(detail.status));
  run.addEventListener('deleted', ({ detail }) => told.push(detail));
  run.start();
  await settled();
  const connect = async () => {
    world.socket.accept();
    world.socket.hear({ type: 'pong' });
    await settled();
  };
  return { world, run, asked, told, failed, connect, badge: () => badgeText(run, world.wallNow()) };
}

test('the status is taken at once, asked for again when the socket is live, and then announced', async () => {
  const { world, asked, told, connect, badge } = await following(of('queued'), of('running'));
  assert.deepEqual(told, ['queued']);
  assert.equal(badge(), 'connecting');
  assert.equal(world.socket.path, '/ws/overview/', 'which carries no bars');
  await connect();
  assert.deepEqual(told, ['queued', 'running']);
  assert.equal(badge(), 'connected');
  world.socket.hear({ type: 'run', run: of('paused') });
  world.socket.hear({ type: 'run', run: of('failed', { id: 8 }) });
  world.socket.hear({ type: 'deleted', id: 8, message: 'Run 8 was deleted by ann.' });
  world.socket.hear({ type: 'run', run: of('cancelled') });
  assert.deepEqual(told, ['queued', 'running', 'paused', 'cancelled']);
  assert.equal(badge(), 'cancelled, ended at 00:01:30');
  assert.deepEqual(asked, ['/api/runs/7/', '/api/runs/7/']);
});

test('what was missed while the socket was lost is asked for; meanwhile the data have an age', async () => {
  const { world, asked, told, connect, badge } = await following(of('running'), of('running'), of('paused'));
  await connect();
  world.socket.end();
  world.pass(200);
  assert.match(badge(), /^offline: last data .* ago; reconnecting$/);
  world.pass(50);
  await connect();
  assert.equal(told.at(-1), 'paused');
  world.socket.hear({ type: 'snapshot_needed', last_seq: 0 });
  assert.equal(asked.length, 4);
});

test('an answer that a message has overtaken is ignored', async () => {
  let answer;
  const { world, told, connect } = await following(of('running'), new Promise((resolve) => (answer = resolve)));
  await connect();
  world.socket.hear({ type: 'run', run: of('paused') });
  answer(of('running'));
  await settled();
  assert.deepEqual(told, ['running', 'paused']);
});

test('a request that fails is made again', async () => {
  const { told, failed } = await following(new ApiError('The server cannot be reached.', 0), of('running'));
  const [[message, again]] = failed;
  assert.equal(message, 'The server cannot be reached.');
  await again();
  assert.deepEqual(told, ['running']);
});

test('a deleted run is shown as deleted, and reported once', async () => {
  const { world, told, asked, run, connect, badge } = await following(of('finished'));
  await connect();
  const sentence = 'Run 7 (large) was deleted by ann.';
  world.socket.hear({ type: 'deleted', id: 7, message: sentence });
  assert.equal(told.at(-1), sentence);
  assert.equal(badge(), 'deleted');
  assert.equal(world.socket.readyState, 3, 'the socket is closed');
  await run.ask();
  assert.equal(asked.length, 2);
  assert.equal(world.timers.size, 0);
});

test('a run that the server does not know is gone, too; perhaps another team has it', async () => {
  const { told, failed, badge } = await following(new ApiError('Run 7 does not exist.', 404));
  assert.deepEqual(told, ['Run 7 does not exist.']);
  assert.deepEqual(failed, []);
  assert.equal(badge(), 'not available');
});

test('the end of the session is stated', async () => {
  const { world, connect, badge } = await following(of('running'));
  await connect();
  world.socket.end(4401);
  assert.equal(badge(), 'not connected: The session has ended; log in again.');
});
