// The binary layout of twin/infra/columns.py, byte by byte.

import assert from 'node:assert/strict';
import test from 'node:test';

import { unpack } from '../../../static/js/core/columns/column-codec.js';

function payload(header, body) {
  let text = JSON.stringify(header);
  text += ' '.repeat((8 - ((text.length + 8) % 8)) % 8);
  const head = new TextEncoder().encode(text);
  const bytes = new Uint8Array(8 + head.length + body.length);
  bytes.set(new TextEncoder().encode('TWN1'));
  new DataView(bytes.buffer).setUint32(4, head.length, true);
  bytes.set(head, 8);
  bytes.set(body, 8 + head.length);
  return bytes.buffer;
}

test('int32, float64 and int64 columns come back with their values', () => {
  const body = new Uint8Array(8 + 16 + 24);
  const view = new DataView(body.buffer);
  view.setInt32(0, 7, true);
  view.setInt32(4, -1, true);
  view.setFloat64(8, 0.5, true);
  view.setFloat64(16, 6.5e9, true);
  view.setBigInt64(24, 6_500_000_000n, true);
  view.setBigInt64(32, -1n, true);
  view.setBigInt64(40, 9_007_199_254_740_991n, true);
  const { meta, columns } = unpack(
    payload(
      {
        meta: { a: 1 },
        columns: [
          ['n', '<i4', [2], 0],
          ['x', '<f8', [2], 8],
          ['t', '<i8', [3], 24],
        ],
      },
      body,
    ),
  );
  assert.deepEqual(meta, { a: 1 });
  assert.deepEqual(
    [[...columns.n], [...columns.x], [...columns.t]],
    [
      [7, -1],
      [0.5, 6.5e9],
      [6_500_000_000, -1, 9_007_199_254_740_991],
    ],
  );
});

test('an empty column is an empty array', () => {
  const { columns } = unpack(payload({ meta: null, columns: [['n', '<i4', [0], 0]] }, new Uint8Array(0)));
  assert.equal(columns.n.length, 0);
});

test('what is not a payload is refused with what it begins with', () => {
  assert.throws(() => unpack(new TextEncoder().encode('<html>  ').buffer), /begins with "<htm", not "TWN1"/);
});

test('an unknown type names the column and the types that are known', () => {
  assert.throws(
    () => unpack(payload({ meta: null, columns: [['n', '<c8', [0], 0]] }, new Uint8Array(0))),
    /column n has the type <c8; known: <f8/,
  );
});
