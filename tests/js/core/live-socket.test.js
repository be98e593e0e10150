// A connection that is kept open: when it is opened again, when it counts as lost, when it ends for good.

import assert from 'node:assert/strict';
import test from 'node:test';

import { LiveSocket } from '../../../static/js/core/sockets/live-socket.js';
import { World } from '../world.js';

function line() {
  const world = new World();
  const socket = new LiveSocket('/ws/overview/', world);
  const events = [];
  socket.addEventListener('change', () => events.push(socket.state));
  for (const name of ['message', 'closed']) socket.addEventListener(name, ({ detail }) => events.push(detail));
  socket.open();
  return { world, socket, events };
}

test('a line is live once something comes over it, not when it opens', () => {
  const { world, socket, events } = line();
  assert.equal(world.socket.path, '/ws/overview/');
  world.socket.accept();
  assert.equal(socket.state, 'connecting');
  assert.deepEqual(world.socket.sent, [{ type: 'ping' }]);
  world.socket.hear({ type: 'pong' });
  assert.deepEqual(events, ['live', { type: 'pong' }]);
  assert.equal(socket.heardAt, world.wallNow());
});

test('a lost line is opened again after 250 ms, then after longer and longer, at most 10 s', () => {
  const { world, socket } = line();
  for (const wait of [250, 500, 1000, 2000, 5000, 10_000, 10_000]) {
    const before = world.sockets.length;
    world.socket.end();
    assert.equal(socket.state, 'offline');
    world.pass(wait - 1);
    assert.equal(world.sockets.length, before, `not before ${wait} ms`);
    world.pass(1);
    assert.equal(world.sockets.length, before + 1, `after ${wait} ms`);
  }
});

test('the wait differs by a quarter from page to page, so that not all come back at once', () => {
  for (const [random, wait] of [
    [0, 187.5],
    [1, 312.5],
  ]) {
    const { world } = line();
    world.random = () => random;
    world.socket.end();
    world.pass(wait - 1);
    assert.equal(world.sockets.length, 1);
    world.pass(1);
    assert.equal(world.sockets.length, 2);
  }
});

test('a message restarts the waits', () => {
  const { world } = line();
  world.socket.end();
  world.pass(250);
  world.socket.end();
  world.pass(500);
  world.socket.accept();
  world.socket.hear({ type: 'pong' });
  world.socket.end();
  world.pass(250);
  assert.equal(world.sockets.length, 4);
});

test('a connection that opens without a message does not restart them', () => {
  const { world } = line();
  world.socket.end();
  world.pass(250);
  world.socket.accept();
  world.socket.end();
  world.pass(499);
  assert.equal(world.sockets.length, 2);
});

test('when the network is back the line is opened at once, and the attempt that was waiting is none', () => {
  const { world, socket } = line();
  world.notify('offline');
  assert.equal(socket.state, 'offline');
  world.notify('online');
  assert.equal(world.sockets.length, 2);
  world.pass(200);
  world.socket.end(); // the next attempt is due in 500 ms; the one before would have come in 50
  world.pass(499);
  assert.equal(world.sockets.length, 2);
  world.pass(1);
  assert.equal(world.sockets.length, 3);
});

test('two pings without an answer, and the line is given up', () => {
  const { world, socket } = line();
  world.socket.accept();
  world.socket.hear({ type: 'pong' });
  const first = world.socket;
  world.pass(8000);
  assert.equal(socket.state, 'live');
  assert.equal(first.sent.length, 3); // one at the beginning, two since
  world.pass(4000);
  assert.equal(socket.state, 'offline');
  assert.equal(first.readyState, 3);
});

test('an answer to a ping keeps the line', () => {
  const { world, socket } = line();
  world.socket.accept();
  for (let i = 0; i < 10; i++) {
    world.socket.hear({ type: 'pong' });
    world.pass(4000);
  }
  assert.equal(socket.state, 'live');
  assert.equal(world.sockets.length, 1);
});

test('a connection that does not come about in 10 s is given up', () => {
  const { world, socket } = line();
  world.pass(8000);
  assert.equal(socket.state, 'connecting');
  world.pass(4000);
  assert.equal(socket.state, 'offline');
  world.pass(250);
  assert.equal(world.sockets.length, 2);
});

test('what a line that was given up still says is not heard', () => {
  const { world, socket, events } = line();
  const first = world.socket;
  world.notify('offline');
  first.hear({ type: 'frame' });
  first.end();
  assert.deepEqual(events, ['offline']);
  assert.equal(socket.attempt, 1);
});

test('a code of 44xx ends the line for good', () => {
  const { world, socket, events } = line();
  world.socket.end(4401);
  assert.deepEqual(events, ['closed', 4401]);
  world.notify('online');
  world.pass(60_000);
  assert.equal(world.sockets.length, 1);
  assert.equal(socket.state, 'closed');
});

test('a line that was closed is not opened by an attempt that was waiting', () => {
  const { world, socket } = line();
  world.socket.end();
  socket.close();
  world.pass(60_000);
  assert.equal(world.sockets.length, 1);
});

test('what is sent without a connection is lost', () => {
  const { world, socket } = line();
  socket.say({ type: 'after', seq: 1 });
  assert.deepEqual(world.socket.sent, []);
});

test('a line that is closed holds no timer and no listener, and one that is opened again holds each once', () => {
  const { world, socket } = line();
  const held = () => [world.timers.size, world.listeners.size];
  assert.deepEqual(held(), [1, 2]);
  world.socket.end(); // an attempt waits
  assert.deepEqual(held(), [2, 2]);
  socket.close();
  assert.deepEqual(held(), [0, 0]);
  socket.open();
  socket.open();
  assert.deepEqual(held(), [1, 2]);
  world.socket.accept();
  world.pass(4000);
  assert.equal(world.socket.sent.length, 2); // the first ping, and one more
  world.socket.end(4404);
  assert.deepEqual(held(), [0, 0]);
});

test('a line that nobody opened holds nothing', () => {
  const world = new World();
  assert.ok(new LiveSocket('/ws/overview/', world));
  assert.deepEqual([world.timers.size, world.listeners.size], [0, 0]);
});
