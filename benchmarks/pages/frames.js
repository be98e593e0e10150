// What the pages of benchmarks share: frames, each of which moves the picture, servers, and a log in one batch.

const MAX_MS = 25_000; // a row ends also where a frame takes a second

/** move(i) before each of `frames` frames: ms from frame to frame, fewer of them if it takes too long. */
async function moved(frames, move) {
  const gaps = [];
  const began = await frame();
  let last = began;
  for (let i = 0; i < frames && last - began < MAX_MS; i++) {
    move(i);
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}

/** {pan, zoom}: ms between the frames while every frame moves the range of the view within the extent. */
export async function pannedAndZoomed(frames, view, extent) {
  const pan = await moved(frames, (i) =>
    view.set(extent * 0.02 * Math.sin(i / 9), extent * (0.98 + 0.02 * Math.sin(i / 9))),
  );
  const zoom = await moved(frames, (i) => {
    const half = (extent / 2) * (0.5 + 0.49 * Math.cos(i / 12));
    view.set(extent / 2 - half, extent / 2 + half);
  });
  return { pan, zoom };
}

/** Servers of equal capacity, every other one in the cloud. */
export function alternating(count) {
  return Array.from({ length: count }, (_, i) => ({
    name: `s${i}`,
    site: i % 2 ? 'cloud' : 'edge',
    roles: ['worker', 'ps'],
    capacity: [4000, 4000, 4000, 4000, 4000],
  }));
}

/**
 * A log in one batch, as a store receives it.
 *
 * @param {import('../../static/js/core/columns/frames.js').Line[]} events
 * @param {import('../../static/js/core/columns/frames.js').FrameColumns} columns
 * @returns {import('../../static/js/core/columns/frames.js').Frame}
 */
export function batchOf(events, columns) {
  return { type: 'frame', first: 1, last: events.length, sim_ms: 0, events, columns };
}

export function frame() {
  return new Promise((done) => requestAnimationFrame(done));
}
