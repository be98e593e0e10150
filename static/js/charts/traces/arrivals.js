// Chart of arrivals over time; a drag selects a window, its edges can be dragged, a double click or Escape resets it.

import { colors } from '../../util/colors.js';
import { clock, duration, number, plural, timeTicks } from '../../util/format.js';
import { span } from './arrival-histogram.js';
import { histogram } from '../parts/bar-chart.js';

const STILL_PX = 4; // a press that moved less is a click
const EDGE_PX = 7; // distance from an edge within which a press drags it

export class Arrivals {
  /** scanned: {from_ms, bin_ms, counts}; onWindow(from, to) in ms, null = open; without it nothing can be dragged. */
  constructor(canvas, tip, scanned, onWindow) {
    this.canvas = canvas;
    this.scanned = scanned;
    this.onWindow = onWindow;
    this.from = null;
    this.to = null;
    const { bin_ms: bin, counts } = scanned;
    const [first, last] = span(scanned);
    this.first = first;
    this.last = last;
    const begin = (i) => this.first + i * bin;
    this.chart = histogram(canvas, tip, {
      data: counts.map((y, i) => ({ x: begin(i) + bin / 2, y: y || null })),
      yTitle: `jobs per ${duration(bin)}`,
      describe: (i) => [
        [`${clock(begin(i))} to ${clock(begin(i + 1))}`, ''],
        ['arrivals', plural(counts[i], 'job')],
      ],
      color: (i, c) => (this.#chosen(begin(i) + bin / 2) ? c.accent : `${c.muted}70`),
      x: {
        type: 'linear',
        min: this.first,
        max: this.last,
        offset: false,
        title: { display: true, text: 'time since the start of the trace (days, hours:minutes)' },
        afterBuildTicks: (axis) => {
          const found = timeTicks(axis.min, axis.max, Math.max(2, axis.width / 96));
          axis.step = found.step;
          axis.ticks = found.ticks.map((value) => ({ value }));
        },
        ticks: {
          autoSkip: false,
          maxRotation: 0,
          callback(value) {
            return clock(value, this.step);
          },
        },
      },
      plugins: [
        {
          id: 'window',
          beforeDatasetsDraw: (chart) => this.#wash(chart),
          afterDatasetsDraw: (chart) => this.#edges(chart),
        },
      ],
    });
    if (onWindow) this.#wire();
  }

  /** Shows a window, ms; null = open. */
  setWindow(from, to) {
    if (from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    this.chart.update('none');
  }

  table() {
    const { bin_ms: bin, counts } = this.scanned;
    const rows = counts.map((count, i) => [
      clock(this.first + i * bin),
      clock(this.first + (i + 1) * bin),
      number(count, 0),
    ]);
    return { head: ['Start', 'End', 'Arrivals'], rows, total: rows.length };
  }

  destroy() {
    this.chart.destroy();
  }

  #chosen(ms) {
    return ms >= (this.from ?? -Infinity) && ms < (this.to ?? Infinity);
  }

  #x(ms) {
    return this.chart.scales.x.getPixelForValue(ms);
  }

  #ms(px) {
    return Math.min(this.last, Math.max(this.first, this.chart.scales.x.getValueForPixel(px)));
  }

  #wash({ ctx, chartArea: area, scales: { x } }) {
    if (this.from === null && this.to === null) return;
    const [left, right] = [
      Math.max(this.first, this.from ?? this.first),
      Math.min(this.last, this.to ?? this.last),
    ].map((ms) => x.getPixelForValue(ms));
    ctx.fillStyle = colors().band;
    if (right > left) ctx.fillRect(left, area.top, right - left, area.bottom - area.top);
  }

  #edges({ ctx, chartArea: area, scales }) {
    ctx.fillStyle = colors().accent;
    for (const ms of [this.from, this.to]) {
      if (ms === null || ms < this.first || ms > this.last) continue;
      const x = Math.round(scales.x.getPixelForValue(ms));
      ctx.fillRect(x - 1, area.top, 2, area.bottom - area.top);
      ctx.fillRect(x - 3, area.top, 6, 10);
    }
  }

  #wire() {
    const on = (name, action) => this.canvas.addEventListener(name, action);
    let press = null; // {at: px of the press, fixed: ms of the end that stays, moved}
    const local = (event) => event.clientX - this.canvas.getBoundingClientRect().left;
    const near = (px) => {
      const edges = [
        ['from', this.from],
        ['to', this.to],
      ].filter(([, ms]) => ms !== null && Math.abs(this.#x(ms) - px) <= EDGE_PX);
      return edges[0]?.[0] ?? null;
    };
    on('pointerdown', (event) => {
      if (event.button !== 0) return;
      const px = local(event);
      const edge = near(px);
      press = {
        at: px,
        fixed: edge === 'from' ? (this.to ?? this.last) : edge === 'to' ? (this.from ?? this.first) : this.#ms(px),
        moved: false,
      };
      this.canvas.setPointerCapture(event.pointerId);
    });
    on('pointermove', (event) => {
      const px = local(event);
      this.canvas.classList.toggle('edge', near(px) !== null);
      if (!press) return;
      press.moved ||= Math.abs(px - press.at) >= STILL_PX;
      if (!press.moved) return;
      const [from, to] = [press.fixed, this.#ms(px)].sort((a, b) => a - b);
      this.onWindow(from <= this.first ? null : from, to >= this.last ? null : to);
    });
    for (const name of ['pointerup', 'pointercancel']) on(name, () => (press = null));
    on('dblclick', () => this.onWindow(null, null));
    on('keydown', (event) => {
      const step = (this.last - this.first) / 40;
      const [from, to] = [this.from ?? this.first, this.to ?? this.last];
      const moves = {
        ArrowLeft: event.shiftKey ? [from, to - step] : [from - step, to - step],
        ArrowRight: event.shiftKey ? [from, to + step] : [from + step, to + step],
        Escape: [this.first, this.last],
      };
      const move = moves[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const low = Math.max(this.first, move[0]);
      const high = Math.min(this.last, move[1]);
      if (high - low >= step / 2) this.onWindow(low <= this.first ? null : low, high >= this.last ? null : high);
    });
  }
}
