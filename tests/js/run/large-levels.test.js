// Levels of a large run: when a page asks for them, and for those of later events.

import assert from 'node:assert/strict';
import test from 'node:test';

import { ApiError } from '../../../static/js/core/api.js';
import { Levels, coveredText } from '../../../static/js/run/large/levels.js';
import { World } from '../world.js';

const settled = () => new Promise((resolve) => setImmediate(resolve));
const upTo = (seq, lastSeq = seq) => ({ ready: true, seq, last_seq: lastSeq });
const notYet = (lastSeq) => ({ ready: false, last_seq: lastSeq });

function page(...answers) {
  const world = new World();
  const [asked, shown, failed] = [[], [], []];
  const state = { window: {}, gone: 0, waits: null, text: '' };
  const get = async (path) => {
    asked.push(path.split('?columns=512')[1]);
    const answer = await answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const part = {
    load: (request, again) => request.catch((error) => void failed.push([error.message, again])),
    forget: () => failed.splice(0),
  };
  const on = {
    window: () => state.window,
    show: ({ seq }) => shown.push(seq),
    known: (levels) => Object.assign(state, { waits: levels.waits, text: coveredText(levels) }),
    gone: () => state.gone++,
  };
  const levels = new Levels(7, part, on, world, { get });
  const pass = async (ms) => {
    world.pass(ms);
    await settled();
  };
  return { world, levels, asked, shown, failed, state, pass };
}

test('levels that are being computed are asked for every three seconds', async () => {
  const { levels, asked, shown, state, pass } = page(notYet(30), notYet(30), upTo(30));
  levels.status({ status: 'finished', last_seq: 30 });
  assert.equal(state.waits, false, 'nobody has said so yet');
  levels.load();
  await pass(0);
  assert.equal(state.waits, true);
  await pass(3000);
  await pass(2999);
  assert.equal(asked.length, 2);
  await pass(1);
  assert.deepEqual([state.waits, shown], [false, [30]]);
});

test('a run that grows is asked about every ten seconds, and no more once the page shows all of it', async () => {
  const { world, levels, asked, shown, state, pass } = page(upTo(20, 22), notYet(24), upTo(25, 26), upTo(30));
  levels.load();
  await pass(0);
  assert.match(state.text, /^The totals, the schedule and the jobs include the first 20 events; the page is updated/);
  levels.status({ status: 'running', last_seq: 22 });
  for (let i = 0; i < 2; i++) await pass(10_000);
  assert.deepEqual(asked, ['', '&after=20', '&after=20']);
  assert.deepEqual(shown, [20, 25]);
  levels.status({ status: 'finished', last_seq: 30 });
  assert.match(state.text, /include the first 25 events/);
  await pass(10_000);
  assert.deepEqual(shown, [20, 25, 30]);
  assert.equal(state.text, 'Nothing is left out of the totals, and the log is complete.');
  assert.equal(world.timers.size, 0, 'nothing is asked any more');
});

test('a run that has ended before the page asks is asked about once', async () => {
  const { world, levels, asked, pass } = page(upTo(30));
  levels.load();
  await pass(0);
  assert.equal(world.timers.size, 1, 'its end is not known yet');
  levels.status({ status: 'finished', last_seq: 30 });
  assert.equal(world.timers.size, 0);
  await pass(60_000);
  assert.equal(asked.length, 1);
  assert.equal(world.timers.size, 0);
});

test('another window is asked for at once, and overtakes the question for later events', async () => {
  let late;
  const { levels, asked, shown, state, pass } = page(upTo(20), new Promise((resolve) => (late = resolve)), upTo(21));
  levels.load();
  await pass(0);
  await pass(10_000);
  state.window = { from_ms: 5, to_ms: 9 };
  levels.load();
  await pass(0);
  late(upTo(20));
  await pass(0);
  assert.deepEqual(asked, ['', '&after=20', '&from_ms=5&to_ms=9']);
  assert.deepEqual(shown, [20, 21]);
});

test('a failed request is made again unless the window has changed', async () => {
  const down = new ApiError('The server cannot be reached.', 0);
  const { levels, asked, shown, failed, pass } = page(down, down, upTo(20));
  levels.load();
  await pass(0);
  const [[, first]] = failed;
  levels.load();
  await pass(0);
  first();
  assert.equal(asked.length, 2);
  failed[1][1]();
  await pass(0);
  assert.deepEqual(shown, [20]);
});

test('after the run is gone nothing is asked, nothing fails, and nothing is promised', async () => {
  const { world, levels, asked, failed, state, pass } = page(
    upTo(20, 22),
    new ApiError('Run 7 was deleted by ann.', 404),
  );
  levels.load();
  await pass(0);
  await pass(10_000);
  assert.deepEqual([state.gone, failed], [1, []]);
  levels.stop();
  await pass(60_000);
  assert.equal(asked.length, 2);
  assert.equal(world.timers.size, 0);
  assert.equal(state.text, 'The totals, the schedule and the jobs include the first 20 events.');
});
