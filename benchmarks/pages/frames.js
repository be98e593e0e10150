// What the bench pages share: frame after frame, each of which moves the picture.

const MOST_MS = 25_000; // a row ends also where a frame takes a second

/** move(i) before each of `frames` frames: ms from frame to frame, fewer of them if it takes too long. */
export async function moved(frames, move) {
  const gaps = [];
  const began = await frame();
  let last = began;
  for (let i = 0; i < frames && last - began < MOST_MS; i++) {
    move(i);
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}

export function frame() {
  return new Promise((done) => requestAnimationFrame(done));
}
