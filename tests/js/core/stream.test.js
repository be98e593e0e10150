// A run's snapshot and deltas: gaps that are asked for again, and pages that were away.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Store } from '../../../static/js/core/store.js';
import { Stream } from '../../../static/js/core/sockets/stream.js';
import { World } from '../world.js';

const arrivals = (first, last) =>
  Array.from({ length: last - first + 1 }, (_, i) => [1000 * (first + i), 'job_arrived', { job: first + i - 1 }]);
const frame = (first, last) => ({ type: 'frame', first, events: arrivals(first, last), columns: {} });

/** A server that has the events 1..last of a run, and answers over HTTP when `reply` is called. */
class Server {
  constructor(last) {
    Object.assign(this, { last, asked: [], problem: null, held: null });
  }

  get = async (path) => {
    this.asked.push(path);
    throw this.problem;
  };

  getColumns = async (path) => {
    this.asked.push(path);
    await this.held;
    if (this.problem) throw this.problem;
    const jobs = this.last;
    const column = (length) => new Float64Array(length).fill(-1);
    const names = ['arrived_ms', 'decided_ms', 'start_ms', 'finish_ms', 'completed_ms', 'utility', 'rejected_ms'];
    const columns = Object.fromEntries(names.map((name) => [`jobs_${name}`, column(jobs)]));
    const bars = [
      'job',
      'role',
      'server',
      'start_ms',
      'end_ms',
      'count',
      'lane',
      'chunk',
      'group',
      'born_ms',
      'died_ms',
    ];
    for (const name of bars) columns[`bars_${name}`] = column(0);
    const meta = { last_seq: this.last, sim_ms: 1000 * this.last, finished: false, verdicts: Array(jobs).fill(null) };
    return { meta: { ...meta, status: { status: 'running' } }, columns };
  };
}

function page(last = 3) {
  const world = new World();
  const server = new Server(last);
  const store = new Store();
  const stream = new Stream(7, store, world, server);
  const events = [];
  for (const name of ['data', 'status', 'connection', 'deleted', 'large', 'next']) {
    stream.addEventListener(name, ({ detail }) => events.push(name === 'connection' ? stream.state : (detail ?? name)));
  }
  return { world, server, store, stream, events };
}

async function live(last) {
  const seen = page(last);
  await seen.stream.start();
  seen.world.socket.accept();
  seen.world.socket.hear({ type: 'pong' });
  seen.world.socket.sent.length = seen.events.length = 0;
  return seen;
}

/** Until promises that are on their way have come. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const refusal = (status, message) => Object.assign(new Error(message), { status });

test('a page takes the snapshot, then asks for what came after it', async () => {
  const { world, server, store, stream, events } = page();
  await stream.start();
  assert.deepEqual(server.asked, ['/api/runs/7/snapshot/']);
  assert.equal(store.lastSeq, 3);
  assert.equal(world.socket.path, '/ws/runs/7/');
  world.socket.accept();
  assert.deepEqual(world.socket.sent, [{ type: 'ping' }, { type: 'after', seq: 3 }]);
  world.socket.hear(frame(4, 5));
  assert.equal(store.lastSeq, 5);
  assert.deepEqual(events, [{ status: 'running' }, 'data', 'live', 'data']);
  assert.equal(stream.heardAt, world.wallNow());
});

test('the time of the next event of a live run is passed on', async () => {
  const { world, events } = await live();
  world.socket.hear({ type: 'next', at_ms: 5000 });
  assert.deepEqual(events, [5000]);
});

test('a frame after a gap is not folded; the gap is asked for by number, once in 2 s', async () => {
  const { world, store, stream } = await live();
  world.socket.hear(frame(6, 7));
  world.socket.hear(frame(8, 8));
  assert.deepEqual([store.lastSeq, stream.gaps], [3, 2]);
  assert.deepEqual(world.socket.sent, [{ type: 'after', seq: 3 }]);
  world.pass(2000);
  world.socket.hear(frame(9, 9));
  assert.deepEqual(world.socket.sent, [
    { type: 'after', seq: 3 },
    { type: 'after', seq: 3 },
  ]);
});

test('the answer closes the gap, and the next gap is asked for at once', async () => {
  const { world, store, events } = await live();
  world.socket.hear(frame(6, 7));
  world.socket.hear(frame(4, 7));
  assert.equal(store.lastSeq, 7);
  world.socket.hear(frame(9, 9));
  assert.deepEqual(world.socket.sent, [
    { type: 'after', seq: 3 },
    { type: 'after', seq: 7 },
  ]);
  assert.deepEqual(events, ['data']);
});

test('a frame that was folded already changes nothing', async () => {
  const { world, store, events } = await live();
  world.socket.hear(frame(2, 3));
  assert.equal(store.lastSeq, 3);
  assert.deepEqual(events, []);
});

test('a status that knows more events than the page is a gap, too', async () => {
  const { world, stream, events } = await live();
  world.socket.hear({ type: 'status', status: 'finished', last_seq: 9 });
  assert.deepEqual(world.socket.sent, [{ type: 'after', seq: 3 }]);
  assert.equal(stream.ended, true);
  assert.equal(events[0].status, 'finished');
});

test('a page that was too slow takes a new snapshot, and asks for what came after that', async () => {
  const { world, server, store } = await live();
  server.last = 20;
  world.socket.hear({ type: 'snapshot_needed' });
  world.socket.hear({ type: 'snapshot_needed' });
  await settled();
  assert.equal(server.asked.length, 2); // of the start and one of these
  assert.equal(store.lastSeq, 20);
  assert.deepEqual(world.socket.sent.at(-1), { type: 'after', seq: 20 });
});

test('a run that has become too large for a snapshot is reported', async () => {
  const { world, server, events } = await live();
  server.problem = Object.assign(refusal(400, 'Run 7 has 90 events ...'), { body: { code: 'large_run' } });
  world.socket.hear({ type: 'snapshot_needed' });
  await settled();
  assert.ok(events.includes('large'));
});

test('a snapshot older than what the page has is left alone', async () => {
  const { world, server, store, stream } = await live();
  world.socket.hear(frame(4, 9));
  server.last = 5;
  await stream.snapshot();
  assert.equal(store.lastSeq, 9);
});

test('after a reconnect the page asks for what it missed', async () => {
  const { world, stream, events } = await live();
  world.socket.hear(frame(4, 4));
  world.socket.end();
  assert.equal(stream.state, 'offline');
  world.pass(250);
  world.socket.accept();
  assert.deepEqual(world.socket.sent, [{ type: 'ping' }, { type: 'after', seq: 4 }]);
  world.socket.hear(frame(5, 6));
  assert.deepEqual(events, ['data', 'offline', 'live', 'data']);
});

test('a hidden page listens to nothing, and takes a new snapshot when it is looked at again', async () => {
  const { world, server, store, stream } = await live();
  world.hide(true);
  assert.equal(stream.state, 'paused');
  world.pass(60_000);
  assert.equal(world.sockets.length, 1);
  server.last = 12;
  world.hide(false);
  assert.equal(stream.state, 'connecting');
  await settled();
  assert.equal(store.lastSeq, 12);
  assert.equal(world.sockets.length, 2);
});

test('a page that opens hidden takes the snapshot and waits', async () => {
  const { world, stream } = page();
  world.away = true;
  await stream.start();
  assert.deepEqual([stream.state, world.sockets.length], ['paused', 0]);
});

test('a page that is hidden again while its snapshot comes does not listen', async () => {
  const { world, server, stream } = await live();
  world.hide(true);
  let reply;
  server.held = new Promise((resolve) => (reply = resolve));
  world.hide(false);
  world.hide(true);
  reply();
  await settled();
  assert.deepEqual([stream.state, world.sockets.length], ['paused', 1]);
});

test('without a server the page that woke says so, and keeps trying to listen', async () => {
  const { world, server, stream } = await live();
  world.hide(true);
  server.problem = refusal(0, 'The server cannot be reached.');
  world.hide(false);
  await settled();
  assert.equal(stream.error, 'The server cannot be reached.');
  assert.equal(world.sockets.length, 2);
  world.socket.accept();
  world.socket.hear({ type: 'pong' });
  assert.deepEqual([stream.state, stream.error], ['live', '']);
});

test('a session that has ended is shown, and nothing is tried any more', async () => {
  const { world, stream } = await live();
  world.socket.end(4401);
  assert.deepEqual([stream.state, stream.error], ['refused', 'The session has ended; log in again.']);
  world.hide(true);
  world.hide(false);
  world.pass(60_000);
  assert.deepEqual([stream.state, world.sockets.length], ['refused', 1]);
});

test('a run that was deleted is gone, whoever reports it', async () => {
  const deleted = await live();
  deleted.world.socket.hear({ type: 'deleted', message: 'Run 7 was deleted.' });
  deleted.world.socket.hear({ type: 'deleted', message: 'Run 7 was deleted.' });
  assert.deepEqual(deleted.events, ['deleted', 'Run 7 was deleted.']);
  assert.equal(deleted.stream.state, 'deleted');

  const closed = await live();
  closed.server.problem = refusal(404, 'There is no run 7.');
  closed.world.socket.end(4404);
  await settled();
  assert.deepEqual(closed.events, ['unavailable', 'There is no run 7.']);
  assert.equal(closed.stream.state, 'unavailable', 'it may belong to another team now');

  const never = page();
  never.server.problem = refusal(404, 'There is no run 7.');
  await assert.rejects(never.stream.start(), /no run 7/);
  assert.deepEqual([never.stream.state, never.world.sockets.length], ['unavailable', 0]);
});

test('an error that the server reports is shown, and the socket stays open', async () => {
  const { world, stream } = await live();
  world.socket.hear({ type: 'error', message: 'after: seq must be a whole number' });
  assert.deepEqual([stream.state, stream.error], ['live', 'after: seq must be a whole number']);
});

test('the end of a run is known from its status, and gone when it goes on', async () => {
  const { world, stream } = await live();
  assert.deepEqual([stream.ended, stream.endMs], [false, null]);
  world.socket.hear({ type: 'status', status: 'finished', end_ms: 5000, sim_ms: 5000, last_seq: 3 });
  assert.deepEqual([stream.ended, stream.endMs], [true, 5000]);
  world.socket.hear({ type: 'status', status: 'cancelled', end_ms: null, sim_ms: 4000, last_seq: 3 });
  assert.deepEqual([stream.ended, stream.endMs], [true, 4000]);
});

test('a stream that is dropped, deleted or refused holds no timer and no listener, and hears nothing', async () => {
  const ends = [
    ({ stream }) => stream.drop(),
    ({ world }) => world.socket.hear({ type: 'deleted', message: 'Gone.' }),
    ({ world }) => world.socket.end(4401),
  ];
  for (const end of ends) {
    const seen = await live();
    assert.deepEqual([seen.world.timers.size, seen.world.listeners.size], [1, 3]);
    end(seen);
    assert.deepEqual([seen.world.timers.size, seen.world.listeners.size], [0, 0]);
    const { state } = seen.stream;
    seen.world.hide(true);
    seen.world.hide(false);
    seen.world.notify('online');
    seen.world.pass(60_000);
    assert.equal(seen.world.sockets.length, 1);
    assert.equal(seen.stream.state, state);
  }
});

test('a stream that only took a snapshot holds nothing, and opens no line when the page is shown', async () => {
  const { world, stream } = page();
  await stream.snapshot();
  world.hide(true);
  world.hide(false);
  await settled();
  assert.deepEqual([world.sockets.length, world.timers.size, world.listeners.size], [0, 0, 0]);
});

test('an event of a kind that the page does not know is reported once, and what follows it is folded', async () => {
  const { world, stream, store } = await live(3);
  const sentences = [];
  stream.addEventListener('unknown', ({ detail }) => sentences.push(detail));
  const unknown = (first, job) => ({
    type: 'frame',
    first,
    events: [
      [9000, 'server_painted', { server: 0 }],
      [9000, 'job_arrived', { job }],
    ],
    columns: {},
  });
  world.socket.hear(unknown(4, 3));
  world.socket.hear(unknown(6, 4));
  assert.deepEqual(sentences, [
    'This page does not support events of the type server_painted: their changes are not shown. Reload the page.',
  ]);
  assert.deepEqual([store.lastSeq, store.jobs.arrived_ms[4]], [7, 9000]);
  await stream.snapshot();
  assert.equal(sentences.length, 1, 'not again after a snapshot');
});
