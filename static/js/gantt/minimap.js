// The whole run as a strip below the schedule: workers over time, the part that is shown, and the time shown. A drag of
// the window moves it; a drag beside it selects another one.

import { NEVER, OPEN, WORKER } from '../core/columns/bars.js';
import { redraw } from '../core/render-loop.js';
import { gutter } from '../charts/parts/time-chart.js';
import { canvasRatio } from '../ui/canvas-size.js';
import { colors, onTheme } from '../util/colors.js';
import { addInterval, settle } from '../util/interval-sums.js';
import { clock } from '../util/format.js';
import { atMost } from '../util/throttle.js';

const BIN_PX = 2;
const REST_MS = 1000; // between two computations, which read every bar
const RIGHT_PX = 18; // as in the charts

/**
 * Mean workers per bin of [0, extent), of the newest plans; groups count a worker for each machine and job.
 * What runs ends now: on a quiet real cluster that is long after the newest event.
 */
export function load({ bars, groups, simMs }, extent, bins, nowMs = simMs) {
  const width = extent / bins;
  const sum = new Float64Array(bins + 2);
  for (let bar = 0; bar < bars.length; bar++) {
    if (bars.role[bar] !== WORKER || bars.died_ms[bar] !== NEVER) continue;
    const end = bars.end_ms[bar] < OPEN ? bars.end_ms[bar] : nowMs;
    addInterval(sum, bins, 0, width, bars.start_ms[bar], end, bars.count[bar]);
  }
  for (const [from, until, { jobs, servers }] of groups)
    addInterval(sum, bins, 0, width, from, until === NEVER ? nowMs : until, jobs.length * servers.length);
  return settle(sum, bins).subarray(0, bins);
}

/**
 * Height per bin of [0, extent): workers; where execution models differ, of which workers have different amounts, the
 * greatest share in use: inUse(p, from, width, bins) by sharesInUse, else null.
 */
export function heights(store, inUse, extent, bins, nowMs) {
  if (!inUse) return load(store, extent, bins, nowMs);
  const shares = Object.values(inUse(nowMs, 0, extent / bins, bins));
  const greatest = (_, bin) => Math.max(0, ...shares.map((values) => values[bin] || 0));
  return Float64Array.from({ length: bins }, greatest);
}

export class Minimap {
  constructor(canvas, { store, inUse, view, playhead }) {
    this.inUse = inUse;
    this.meaning = inUse ? 'share in use' : 'number of workers';
    this.canvas = canvas;
    this.store = store;
    this.view = view;
    this.playhead = playhead;
    this.drag = null;
    this.whole = 0;
    this.draw = () => this.#draw();
    this.compute = atMost(REST_MS, () => {
      this.values = null;
      redraw(this.draw);
    });
    view.addEventListener('range', () => redraw(this.draw));
    playhead.addEventListener('move', () => redraw(this.draw));
    onTheme(() => redraw(this.draw));
    new ResizeObserver(() => redraw(this.draw)).observe(canvas);
    this.#listen();
  }

  /** The store has changed. */
  update() {
    this.compute();
  }

  get #area() {
    return { left: gutter(), right: this.canvas.clientWidth - RIGHT_PX };
  }

  /** As far as the charts reach while they show the whole run, so that both have one scale. */
  get #extent() {
    if (this.view.fitted) this.whole = this.view.to;
    return Math.max(this.view.extent, this.whole, 1);
  }

  #timeAt(x) {
    const { left, right } = this.#area;
    return (Math.min(Math.max(x - left, 0), right - left) / Math.max(1, right - left)) * this.#extent;
  }

  #listen() {
    const { canvas, view } = this;
    const at = (event) => this.#timeAt(event.clientX - canvas.getBoundingClientRect().left);
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      const ms = at(event);
      const inside = ms >= view.from && ms <= view.to && !view.fitted;
      this.drag = { ms, from: view.from, to: view.to, inside };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!this.drag) return;
      const { ms, from, to, inside } = this.drag;
      const now = at(event);
      if (inside) view.set(from + now - ms, to + now - ms);
      else if (Math.abs(now - ms) > this.#extent / 500) view.set(Math.min(ms, now), Math.max(ms, now));
    });
    const end = () => (this.drag = null);
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('dblclick', () => view.fit());
    canvas.addEventListener('keydown', (event) => {
      const width = view.to - view.from;
      const action = {
        ArrowLeft: () => view.pan(-width / 4),
        ArrowRight: () => view.pan(width / 4),
        Home: () => view.set(0, width),
        End: () => view.set(this.#extent - width, this.#extent),
        '+': () => view.zoom(0.7, view.from + width / 2),
        '-': () => view.zoom(1 / 0.7, view.from + width / 2),
        0: () => view.fit(),
      }[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      action();
      event.preventDefault();
    });
  }

  #draw() {
    const { canvas, view, playhead } = this;
    const ratio = canvasRatio();
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const ctx = canvas.getContext('2d');
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    const c = colors();
    const { left, right } = this.#area;
    const room = Math.max(1, right - left);
    const bins = Math.max(1, Math.floor(room / BIN_PX));
    if (!this.values || this.values.length !== bins || this.extent !== this.#extent) {
      this.extent = this.#extent;
      const nowMs = Math.max(this.store.simMs, playhead.liveMs);
      this.values = heights(this.store, this.inUse, this.extent, bins, nowMs);
      this.most = this.values.reduce((most, value) => Math.max(most, value), 0) || 1;
    }
    ctx.fillStyle = c.band;
    ctx.fillRect(0, 0, width, height);
    ctx.fillStyle = c.muted;
    this.values.forEach((value, i) => {
      const high = (value / this.most) * (height - 3);
      ctx.fillRect(left + (i * room) / bins, height - high, room / bins, high);
    });
    const xOf = (ms) => left + (Math.min(Math.max(ms, 0), this.extent) / this.extent) * room;
    const [x, end] = [xOf(view.from), xOf(view.to)];
    ctx.globalAlpha = 0.55;
    ctx.fillStyle = c.panel;
    ctx.fillRect(left, 0, x - left, height);
    ctx.fillRect(end, 0, right - end, height);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = c.accent;
    ctx.strokeRect(x + 0.5, 0.5, Math.max(2, end - x - 1), height - 1);
    ctx.fillStyle = c.accent;
    ctx.fillRect(Math.round(xOf(playhead.ms)) - 0.5, 0, 1.5, height);
    const text = `${clock(view.from)} to ${clock(Math.min(view.to, view.extent))} of ${clock(view.extent)}`;
    canvas.setAttribute('aria-valuetext', text);
    canvas.setAttribute('aria-valuenow', String(Math.round((100 * view.from) / this.extent)));
    canvas.title =
      `Height: ${this.meaning}. Shown: ${text}. ` +
      'Drag the window to move it; drag beside it to select another range.';
    ctx.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    ctx.textBaseline = 'middle';
    ctx.fillStyle = c.muted;
    ctx.fillText('whole run', 6, height / 2);
  }
}
