// Uploads in parts: what is sent after a break, a lost answer, another offset.

import assert from 'node:assert/strict';
import test from 'node:test';

import { PART_BYTES, Transfer, unfinished } from '../../../static/js/traces/upload-session.js';

const part = (size, fails) => ({
  size,
  slice: (from, to) => part(to - from, fails),
  arrayBuffer: async () => {
    if (fails?.()) throw new Error('NotReadableError');
  },
});
const file = (name, size, fails) => ({
  name,
  size,
  slice: (from, to) => part(Math.min(size, to) - from, fails),
});
const trace = (...files) => ({
  id: 7,
  status: 'uploading',
  files: files.map(([name, size, received = 0]) => ({ name, size, received })),
});

/** A server that keeps what it is sent; answers are replaced by those of `odd`, one for each request in order. */
function server(announced, odd = []) {
  const received = announced.files.map((f) => f.received);
  const asked = [];
  const put = async (path, part) => {
    const [, n, offset] = /files\/(\d+)\/\?offset=(\d+)/.exec(path).map(Number);
    asked.push([n, offset]);
    const answer = odd.shift();
    if (answer === 'lost') received[n] += part.size;
    if (answer) return answer === 'lost' ? { status: 0, body: null } : answer;
    if (offset !== received[n]) return { status: 409, body: { received: received[n], detail: 'elsewhere' } };
    received[n] += part.size;
    const whole = announced.files.every((f, i) => f.size === received[i]);
    return { status: 200, body: { received: received[n], ...(whole ? { trace: { id: 7, status: 'queued' } } : {}) } };
  };
  const waits = [];
  const options = {
    put,
    sleep: async (ms) => waits.push(ms),
    now: () => 0,
    read: async () => ({ id: 7, status: 'parsing' }),
  };
  return { asked, waits, options };
}

test('two files go in parts, one after the other', async () => {
  const announced = trace(['a', PART_BYTES + 5], ['b', 3]);
  const { asked, options } = server(announced);
  const transfer = new Transfer(announced, [file('a', PART_BYTES + 5), file('b', 3)], options);
  await transfer.run();
  assert.deepEqual(asked, [
    [0, 0],
    [0, PART_BYTES],
    [1, 0],
  ]);
  assert.deepEqual([transfer.state, transfer.sent, transfer.trace.status], ['received', PART_BYTES + 8, 'queued']);
});

test('it goes on where the server has got to, also when only the answer shows it', async () => {
  const announced = trace(['a', 3 * PART_BYTES, PART_BYTES]);
  const { asked, options } = server(announced, [{ status: 409, body: { received: 2 * PART_BYTES } }]);
  announced.files[0].received = PART_BYTES;
  const transfer = new Transfer(announced, [file('a', 3 * PART_BYTES)], options);
  options.put('files/0/?offset=0', { size: 0 }); // takes the odd answer: nothing is sent from the beginning again
  await transfer.run();
  assert.deepEqual(asked.slice(1), [
    [0, PART_BYTES],
    [0, 2 * PART_BYTES],
  ]);
  assert.equal(transfer.state, 'received');
});

test('a broken connection is tried again; what had arrived is not sent twice', async () => {
  const announced = trace(['a', 2 * PART_BYTES]);
  const { asked, waits, options } = server(announced, ['lost', { status: 503, body: null }]);
  const transfer = new Transfer(announced, [file('a', 2 * PART_BYTES)], options);
  await transfer.run();
  assert.deepEqual(
    asked,
    [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, PART_BYTES],
    ],
    'lost, 503, 409 with the offset, the rest',
  );
  assert.deepEqual(waits, [500, 1000]);
  assert.equal(transfer.state, 'received');
});

test('a lost answer to the last part is no failure', async () => {
  const announced = trace(['a', 5]);
  const { options } = server(announced, [
    'lost',
    { status: 409, body: { detail: 'trace a is parsing; it takes no more of its files' } },
  ]);
  const transfer = new Transfer(announced, [file('a', 5)], options);
  await transfer.run();
  assert.deepEqual([transfer.state, transfer.trace.status], ['received', 'parsing']);
});

test('after the last try it stops, says why, and can go on', async () => {
  const announced = trace(['a', 5]);
  const { options } = server(announced, Array(8).fill({ status: 502, body: null }));
  const transfer = new Transfer(announced, [file('a', 5)], options);
  await transfer.run();
  assert.deepEqual(
    [transfer.state, transfer.problem],
    ['stopped', 'The server answered with status 502. Stopped after 8 attempts.'],
  );
  await transfer.run();
  assert.equal(transfer.state, 'received');
});

test('a connection that is lost for longer than all waits ends no upload', async () => {
  const announced = trace(['a', 5]);
  const { waits, options } = server(announced, Array(12).fill({ status: 0, body: null }));
  const transfer = new Transfer(announced, [file('a', 5)], options);
  await transfer.run();
  assert.equal(transfer.state, 'received');
  assert.deepEqual(waits.slice(-6), Array(6).fill(30_000));
});

test('a file that changes during its upload is named, not the connection', async () => {
  const announced = trace(['a.csv', 2 * PART_BYTES]);
  let changed = false;
  const { asked, options } = server(announced);
  const put = async (...given) => {
    if (changed) return { status: 0, body: null }; // as a browser reports a part that it cannot read
    changed = true;
    return options.put(...given);
  };
  const transfer = new Transfer(announced, [file('a.csv', 2 * PART_BYTES, () => changed)], { ...options, put });
  await transfer.run();
  assert.deepEqual(
    [transfer.state, transfer.problem],
    ['stopped', 'a.csv cannot be read any more; it was changed or removed. Cancel, and choose it again.'],
  );
  assert.equal(transfer.resumable, false);
  assert.equal(asked.length, 1);
});

test('files that were uploaded before lead to their trace', async () => {
  const announced = trace(['a', 5]);
  const { options } = server(announced, [{ status: 409, body: { duplicate_of: 3, detail: 'uploaded before' } }]);
  const transfer = new Transfer(announced, [file('a', 5)], options);
  await transfer.run();
  assert.deepEqual([transfer.state, transfer.earlier], ['duplicate', { id: 3, detail: 'uploaded before' }]);
});

test('an upload that is cancelled sends nothing more', async () => {
  const announced = trace(['a', 2 * PART_BYTES]);
  const { asked, options } = server(announced);
  const transfer = new Transfer(announced, [file('a', 2 * PART_BYTES)], {
    ...options,
    put: async (...given) => (transfer.cancel(), options.put(...given)),
  });
  await transfer.run();
  assert.deepEqual([transfer.state, asked.length], ['cancelled', 1]);
});

test('an unfinished upload is found by names and sizes, in any order', () => {
  const open = trace(['a', 5, 2], ['b', 9]);
  const [a, b] = [file('a', 5), file('b', 9)];
  assert.deepEqual(unfinished([b, a], [open]), { trace: open, files: [a, b] });
  assert.equal(unfinished([b], [open]), null);
  assert.equal(unfinished([b, file('a', 6)], [open]), null);
  assert.equal(unfinished([b, b], [open]), null);
  assert.equal(unfinished([a, b], [{ ...open, status: 'queued' }]), null);
});
