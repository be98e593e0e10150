// Time range, crosshair and selection of the page, shared by every chart.

const SLACK = 1.04; // factor of the run's extent

export class View extends EventTarget {
  /** Range in ms of simulated time. `fitted`: the range follows the whole run as it grows. */
  constructor() {
    super();
    this.from = 0;
    this.to = 60_000;
    this.extent = 60_000; // ms: the whole run is [0, extent]
    this.fitted = true;
    this.since = 0; // ms: where a fitted range begins
    /** @type {number | null} */
    this.cursor = null; // ms under the pointer, or null
    /** @type {{from: number, to: number} | null} */
    this.selected = null; // range that was drawn over a chart
    /** @type {(() => void) | null} */
    this.back = null; // shows what was shown before the first selection
    /** @type {import('./unseen-times.js').UnseenTimes | null} */
    this.unseen = null; // of the run that all charts show
  }

  /**
   * Updates the extent after the run has grown or was loaded; a fitted range follows.
   *
   * @param {number} extent
   */
  setExtent(extent) {
    extent = Math.max(1, extent);
    if (extent === this.extent) return;
    this.extent = extent;
    const follows = this.fitted && (extent > this.to || extent < this.to * 0.8); // in steps, so that axes rarely move
    if (follows) this.#set(this.since, extent * SLACK);
  }

  /**
   * Shows a range, clipped to the run: no time is before 0.
   *
   * @param {number} from
   * @param {number} to
   */
  set(from, to) {
    this.fitted = false;
    const most = this.extent * SLACK;
    const width = Math.min(Math.max(10, to - from), most);
    const start = Math.min(Math.max(from, 0), most - width);
    this.#set(start, start + width);
  }

  /**
   * @param {number} factor
   * @param {number} atMs
   */
  zoom(factor, atMs) {
    this.set(atMs - (atMs - this.from) * factor, atMs + (this.to - atMs) * factor);
  }

  /** @param {number} ms */
  pan(ms) {
    this.set(this.from + ms, this.to + ms);
  }

  /**
   * Shows the run from a time on, and follows it as it grows.
   *
   * @param {number} ms
   */
  fitFrom(ms) {
    this.fitted = true;
    this.since = ms;
    this.#set(ms, this.extent * SLACK);
  }

  fit() {
    this.fitted = true;
    this.since = 0;
    this.#set(0, this.extent * 1.01);
  }

  /**
   * Pans to t, keeping the width.
   *
   * @param {number} t
   */
  reveal(t) {
    if (t >= this.from && t <= this.to) return;
    const width = this.to - this.from;
    this.set(t - width / 2, t + width / 2);
  }

  /** @param {number | null} ms */
  point(ms) {
    if (ms === this.cursor) return;
    this.cursor = ms;
    this.dispatchEvent(new Event('cursor'));
  }

  /**
   * Selects a range, within the run; `done`: it is complete, and every chart zooms to it.
   *
   * @param {number} one
   * @param {number} other
   * @param {boolean} done
   */
  select(one, other, done = true) {
    const clip = (/** @type {number} */ ms) => Math.min(Math.max(0, ms), this.extent);
    const [from, to] = [clip(Math.min(one, other)), clip(Math.max(one, other))];
    if (done && !(to > from)) return this.unselect();
    this.selected = { from, to };
    if (done) {
      const { from: left, to: right, fitted } = this;
      this.back ??= fitted ? () => this.fit() : () => this.set(left, right);
      this.set(from, to);
    }
    this.dispatchEvent(new Event('selection'));
  }

  /** Ends the selection, and shows what was shown before it. */
  unselect() {
    if (!this.selected) return;
    this.selected = null;
    this.back?.();
    this.back = null;
    this.dispatchEvent(new Event('selection'));
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  #set(from, to) {
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    this.dispatchEvent(new Event('range'));
  }
}
