// Playhead: the time that the page shows. Live: the newest time of the run. Otherwise: a fixed or playing time.

export class Playhead extends EventTarget {
  constructor() {
    super();
    this.liveMs = 0; // the newest time of the run
    this.ms = 0; // the time shown
    this.following = true;
    this.playing = false;
    this.speed = 3600;
    /** @type {number | null} */
    this.lastTick = null;
  }

  /**
   * The run has reached `ms`.
   *
   * @param {number} ms
   */
  setLive(ms) {
    if (ms === this.liveMs) return;
    this.liveMs = ms;
    if (this.following) this.#move(ms);
  }

  /**
   * Shows the time `ms`, clipped to [0, live].
   *
   * @param {number} ms
   */
  scrub(ms) {
    this.following = false;
    this.#move(Math.min(Math.max(0, ms), this.liveMs), true);
  }

  goLive() {
    this.following = true;
    this.playing = false;
    this.#move(this.liveMs, true);
  }

  play() {
    if (this.following || this.ms >= this.liveMs) this.#move(0);
    this.following = false;
    this.playing = true;
    this.lastTick = null;
    this.#changed('state');
  }

  pause() {
    this.following = false;
    this.playing = false;
    this.#changed('state');
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.#changed('state');
  }

  /**
   * One animation frame at wall time nowMs; true while it needs another. At the newest time it becomes live.
   *
   * @param {number} nowMs
   */
  tick(nowMs) {
    if (!this.playing) return false;
    if (this.lastTick !== null) {
      const next = this.ms + (nowMs - this.lastTick) * this.speed;
      if (next >= this.liveMs) {
        this.goLive();
        return false;
      }
      this.#move(next);
    }
    this.lastTick = nowMs;
    return true;
  }

  /**
   * @param {number} ms
   * @param {boolean} always
   */
  #move(ms, always = false) {
    const moved = ms !== this.ms;
    this.ms = ms;
    if (moved) this.#changed('move');
    if (always) this.#changed('state');
  }

  /** @param {string} name */
  #changed(name) {
    this.dispatchEvent(new Event(name));
  }
}

/**
 * Simulated ms at wall time `wallMs` of a live run's clock {sim_ms, wall_ms, speed}; null when it has none.
 *
 * @param {{sim_ms: number, wall_ms?: number | null, speed: number} | null | undefined} clock
 * @param {number} wallMs
 */
export function clockAt(clock, wallMs) {
  if (!clock || clock.wall_ms === null || clock.wall_ms === undefined) return null;
  return clock.sim_ms + Math.max(0, wallMs - clock.wall_ms) * clock.speed;
}

/**
 * Time that a run has reached: of a live run that of its clock, at most that of its next event. Before that is known,
 * as of a promoted fork that has not begun to catch up with its clock, that of its newest event.
 *
 * @param {number} simMs of its newest event
 * @param {number | null} clockMs null: it has no clock, or is over
 * @param {number | null} nextMs
 */
export function reachedMs(simMs, clockMs, nextMs) {
  return clockMs === null || nextMs === null ? simMs : Math.max(simMs, Math.min(clockMs, nextMs));
}
