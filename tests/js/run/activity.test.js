// A run that waits: its sentence is asked for again, so that it stays right, until the run goes on.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Activity } from '../../../static/js/run/activity.js';
import { World } from '../world.js';

const waiting = (seconds) => ({ state: 'held', text: `the database has been locked for ${seconds} s`, seconds });
const settled = () => new Promise((resolve) => setImmediate(resolve));

function page(answers) {
  const [world, stream, shown] = [new World(), new EventTarget(), []];
  const get = async (path) => {
    assert.equal(path, '/api/runs/7/');
    const answer = answers.shift();
    if (!answer) throw new TypeError('no network');
    return answer;
  };
  const load = (request) => request.catch(({ message }) => void shown.push([message, null]));
  assert.ok(
    new Activity(
      7,
      stream,
      (text, bad) => shown.push([text, bad]),
      world,
      { get },
      { load, forget: () => shown.push(['forgotten', null]) },
    ),
  );
  const report = (detail) => stream.dispatchEvent(Object.assign(new Event('status'), { detail }));
  return { world, stream, shown, report };
}

test('how long a run has waited is asked for every two seconds until it goes on', async () => {
  const { world, shown, report } = page([
    { status: 'running', message: '', activity: waiting(24) },
    null, // not reached
    { status: 'running', message: 'resumed after 27 s', activity: null },
  ]);
  report({ status: 'running', message: '', activity: waiting(22) });
  for (let i = 0; i < 5; i++) {
    world.pass(2000);
    await settled();
  }
  assert.deepEqual(
    shown.map(([text]) => text),
    [
      'the database has been locked for 22 s',
      'the database has been locked for 24 s',
      'no network',
      'resumed after 27 s',
    ],
  );
  assert.equal(world.timers.size, 0, 'nothing is asked any more');
});

test('a run that works is not asked about; a fault is named', () => {
  const { world, shown, report } = page([]);
  report({ status: 'running', message: '', activity: null });
  report({ status: 'failed', message: 'out of memory', activity: null });
  assert.deepEqual(shown, [
    ['', false],
    ['out of memory', true],
  ]);
  assert.equal(world.timers.size, 0);
});

test('an answer that is on its way when the run is deleted is ignored', async () => {
  const { world, stream, shown, report } = page([]);
  report({ status: 'running', message: '', activity: waiting(22) });
  world.pass(2000); // it asks
  stream.dispatchEvent(new Event('deleted'));
  await settled();
  assert.equal(world.timers.size, 0, 'nothing is asked any more');
  assert.deepEqual(shown.at(-1), ['forgotten', null], 'no failure stays on the page');
});
