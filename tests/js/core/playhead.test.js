// The playhead: following, scrubbing, playing at a speed.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Playhead, clockAt, reachedMs } from '../../../static/js/core/playhead.js';

test('it follows the newest moment until it is scrubbed', () => {
  const playhead = new Playhead();
  playhead.setLive(5000);
  assert.equal(playhead.ms, 5000);
  playhead.scrub(1200);
  playhead.setLive(9000);
  assert.deepEqual([playhead.ms, playhead.following], [1200, false]);
  playhead.goLive();
  assert.deepEqual([playhead.ms, playhead.following], [9000, true]);
});

test('a scrub is held inside the run', () => {
  const playhead = new Playhead();
  playhead.setLive(5000);
  playhead.scrub(-10);
  assert.equal(playhead.ms, 0);
  playhead.scrub(99_999);
  assert.equal(playhead.ms, 5000);
});

test('playing at 60 s/s passes 6 s of the run in a tenth of a second, and stays at the newest moment', () => {
  const playhead = new Playhead();
  playhead.setLive(20_000);
  playhead.setSpeed(60);
  playhead.scrub(1000);
  playhead.play();
  assert.equal(playhead.tick(50), true); // the first frame only sets the clock
  assert.equal(playhead.tick(150), true);
  assert.equal(playhead.ms, 7000);
  assert.equal(playhead.tick(1150), false);
  assert.deepEqual([playhead.ms, playhead.following, playhead.playing], [20_000, true, false]);
});

test('play at the newest moment starts again from the beginning', () => {
  const playhead = new Playhead();
  playhead.setLive(20_000);
  playhead.play();
  assert.deepEqual([playhead.ms, playhead.playing], [0, true]);
});

test('a live clock passes speed ms a ms from when it was set, and stands when it has none', () => {
  assert.equal(clockAt({ sim_ms: 1000, wall_ms: 50, speed: 100 }, 60), 2000);
  assert.equal(clockAt({ sim_ms: 1000, wall_ms: 50, speed: 0 }, 60), 1000);
  assert.equal(clockAt({ sim_ms: 0, wall_ms: null, speed: 1 }, 60), null);
});

test('a live run has reached the time of its clock, but not more than its next event', () => {
  assert.equal(reachedMs(1000, 1500, 2000), 1500);
  assert.equal(reachedMs(1000, 2500, 2000), 2000);
  assert.equal(reachedMs(1000, 900, 2000), 1000);
  assert.equal(reachedMs(1000, 9000, 1000), 1000);
  assert.equal(reachedMs(1000, null, 2000), 1000);
});

test('a promoted fork whose next event is not known has reached its newest event, not its clock', () => {
  assert.equal(reachedMs(7_200_000, 72_000_000, null), 7_200_000);
});
