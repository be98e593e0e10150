// The Gantt's grid of rows: outages of servers, and nodes that drain.

import assert from 'node:assert/strict';
import test from 'node:test';

import { OPEN } from '../../../static/js/core/columns/bars.js';
import { outageText } from '../../../static/js/core/ranges/outage-text.js';
import { RowGrid } from '../../../static/js/gantt/layers/row-grid.js';
import { canvas, laid, story } from './layers-scene.js';

test('a server that is unavailable is painted so, and the tooltip says until when', () => {
  const frame = laid(story());
  const grid = new RowGrid();
  const { ctx, filled } = canvas();
  grid.paint(ctx, frame);
  const boxes = (of) => of.filter(([fill]) => ['muted', 'same'].includes(fill));
  const outlined = [
    ['muted', 250, 31, 30, 18],
    ['same', 251, 32, 28, 16],
  ];
  assert.deepEqual(boxes(filled), outlined);
  const low = canvas();
  grid.paint(low.ctx, laid(story(), { rowPx: 6 }));
  assert.deepEqual(
    boxes(low.filled).map(([fill, , , , height]) => [fill, height]),
    [
      ['muted', 4],
      ['same', 2],
    ],
    'it is outlined in low rows, too',
  );
  const hit = grid.hit(260, 40, frame);
  assert.match(grid.describe(hit)[0][1], /unavailable until/);
  assert.equal(grid.hit(260, 60, frame), null);
});

test('the time before a server was added is no outage', () => {
  assert.equal(
    outageText({ added_ms: 3_600_000 }, [0, 3_600_000], 0),
    'not in the cluster until it was added at 01:00:00',
  );
  assert.equal(outageText({ added_ms: 3_600_000 }, [5_000_000, 7_200_000], 0), 'unavailable until 02:00:00');
  assert.equal(outageText({}, [0, OPEN], 0), 'unavailable');
  const grid = new RowGrid();
  const server = { added_ms: 20, away: [[0, 20]] };
  const frame = {
    p: 50,
    info: { cluster: { servers: [server] } },
    at: (t) => ({ row: { kind: 'server', index: 0 }, t }),
  };
  assert.equal(grid.describe(grid.hit(10, 0, frame))[0][1], outageText(server, [0, 20], 50));
});

test('a node of a live cluster shows that it drains, and the reason of the cluster, as known at the time shown', () => {
  const server = {
    away: [[30, 50]],
    states: [
      [10, 'draining', 'fan 3'],
      [31, 'drained', 'fan 3'],
      [35, 'drained', 'fan 3 and 4'],
      [50, 'up', ''],
      [70, 'draining', ''],
    ],
  };
  const info = { run: { mode: 'mirror' }, cluster: { servers: [server] } };
  const frame = (p) => ({ ...laid(story(), { p }), info, at: (t) => ({ row: { kind: 'server', index: 0 }, t }) });
  const grid = new RowGrid();
  const text = (t, p = 90) => {
    const hit = grid.hit(t, 0, frame(p));
    return hit && grid.describe(hit)[0][1];
  };
  assert.equal(text(5), null);
  assert.equal(text(20), 'draining, takes no new jobs: fan 3');
  assert.match(text(40), /^unavailable until .*: fan 3 and 4$/);
  assert.match(text(40, 33), /: fan 3$/, 'the later reason was not known then');
  assert.equal(text(60), null);
  assert.equal(text(80), 'draining, takes no new jobs');
  assert.equal(text(80, 75), null, 'what comes after the time shown is not known');
});
