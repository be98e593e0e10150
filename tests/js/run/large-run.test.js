// The window of time of the page of a large run, and what a point of its raster says.

import assert from 'node:assert/strict';
import test from 'node:test';

import { cellAt, cellText, siteStarts } from '../../../static/js/run/large/raster.js';
import { moved, within } from '../../../static/js/run/large/window.js';

const RUN = [0, 1_000_000];

test('a window stays within the run and is at least a second long', () => {
  assert.deepEqual(within([-500, 99_500], RUN), [0, 100_000]);
  assert.deepEqual(within([950_000, 1_050_000], RUN), [900_000, 1_000_000]);
  assert.deepEqual(within([500, 600], RUN), [500, 1500]);
  assert.deepEqual(within([-5, 2_000_000], RUN), RUN);
});

test('each action moves the window, and zooming keeps a time in its place', () => {
  const window = [400_000, 600_000];
  assert.deepEqual(moved('earlier', window, RUN), [300_000, 500_000]);
  assert.deepEqual(moved('later', window, RUN), [500_000, 700_000]);
  assert.deepEqual(moved('closer', window, RUN), [475_000, 525_000]);
  assert.deepEqual(moved('closer', window, RUN, 400_000), [400_000, 450_000]);
  assert.deepEqual(moved('wider', [475_000, 525_000], RUN), window);
  assert.deepEqual(moved('whole', window, RUN), RUN);
});

test('a point of the raster is a group of servers and an interval', () => {
  const rows = [
    { site: 'edge', servers: 16 },
    { site: 'cloud', servers: 1 },
  ];
  const found = {
    rows,
    columns: 2,
    edges: [0, 60_000, 120_000],
    cells: Uint8Array.from([0, 20, 30, 255]),
    counted: Uint8Array.from([0, 1, 0, 0]),
    scale: ['gpu', 'memory'],
  };
  assert.equal(cellText(cellAt(found, 0.6, 0.2)), 'edge, 16 servers, 00:01:00 to 00:02:00: 20 % of memory allocated');
  assert.equal(cellText(cellAt(found, 0.1, 0.2)), 'edge, 16 servers, 00:00:00 to 00:01:00: 0 % allocated');
  assert.match(cellText(cellAt(found, 0.1, 0.9)), /: 30 % of GPU allocated$/);
  assert.match(cellText(cellAt({ ...found, scale: ['workers'] }, 0.1, 0.9)), /: 30 % of typed workers allocated$/);
  assert.equal(cellText(cellAt(found, 0.99, 0.99)), 'cloud, 1 server, 00:01:00 to 00:02:00: no capacity');
  assert.equal(cellAt(found, 1, 0.5), null);
});

test('the rows begin with the names of their sites', () => {
  const rows = ['edge', 'edge', 'cloud'].map((site) => ({ site, servers: 16 }));
  const starts = [
    { site: 'edge', row: 0 },
    { site: 'cloud', row: 2 },
  ];
  assert.deepEqual(siteStarts(rows), starts);
});
