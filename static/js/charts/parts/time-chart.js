// Base of the page's time charts: one time axis, aligned plots, crosshair and playhead lines.

import { Chart } from './chartjs.js';
import { paintUnseen } from '../../core/ranges/unseen-times.js';
import { colors } from '../../util/colors.js';
import { clock, timeTicks } from '../../util/format.js';

const CHAR_PX = 6.4; // width of a character of a label
const RIGHT_PX = 18; // reserved in every chart for the Gantt's scrollbar, so that the plots align

/** Width of the labels left of every plot, px. */
export function gutter() {
  return innerWidth < 640 ? 80 : 132;
}

/** Options of a value axis of these charts: its labels take the whole gutter. */
export function valueAxis(options) {
  return {
    ...options,
    afterFit: (axis) => {
      axis.width = gutter();
    },
  };
}

/** A Chart.js chart over the page's time range, with the crosshair and the playhead drawn over it. */
export function timeChart(canvas, view, playhead, { type, data, y, plugins = [], padTop = 4, xTicks = true }) {
  const options = {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    events: [],
    normalized: true,
    parsing: false,
    layout: { padding: { top: padTop, right: RIGHT_PX, left: 0, bottom: 0 } },
    plugins: { legend: { display: false }, tooltip: { enabled: false } },
    scales: {
      x: {
        type: 'linear',
        min: view.from,
        max: view.to,
        border: { display: false },
        afterBuildTicks: (axis) => {
          const found = timeTicks(axis.min, axis.max, Math.max(2, axis.width / (axis.width < 400 ? 84 : 110)));
          axis.step = found.step;
          const room = (/** @type {number} */ value) => ((axis.max - value) / (axis.max - axis.min)) * axis.width;
          // a label that needs more would be cut off
          const fits = (/** @type {number} */ value) =>
            room(value) + RIGHT_PX >= (clock(value, found.step).length * CHAR_PX) / 2;
          axis.ticks = found.ticks.filter((value) => !axis.width || fits(value)).map((value) => ({ value }));
        },
        afterFit: (axis) => {
          axis.paddingRight = 0; // a long last label would make this plot narrower than those of other charts
        },
        ticks: {
          display: xTicks,
          autoSkip: false,
          maxRotation: 0,
          callback(value) {
            return clock(value, this.step);
          },
        },
      },
      y: valueAxis(y),
    },
  };
  const chart = new Chart(canvas, { type, data, options, plugins: [...plugins, overlay(view, playhead)] });
  applyTheme(chart);
  return chart;
}

/** Brings the chart's axis to the page's range; cheap when nothing changed. */
export function syncRange(chart, view) {
  const { x } = chart.options.scales;
  if (x.min === view.from && x.max === view.to) return false;
  x.min = view.from;
  x.max = view.to;
  return true;
}

/** The theme's colours and font for axes and grid. */
export function applyTheme(chart) {
  const c = colors();
  for (const axis of Object.values(chart.options.scales)) {
    axis.grid = { ...axis.grid, color: c.line, tickLength: 4 };
    axis.ticks = {
      ...axis.ticks,
      color: c.muted,
      font: { size: 11, family: getComputedStyle(document.body).fontFamily },
    };
    if (axis.title) axis.title = { ...axis.title, color: c.muted, font: { size: 11 } };
  }
}

export function xOf(chart, ms) {
  const { left, right } = chart.chartArea;
  const { min, max } = chart.scales.x;
  return left + ((ms - min) / (max - min)) * (right - left);
}

/** Makes paler what lies right of x in a plot: the planned part, after the time shown. */
export function paintPlanned(ctx, area, x, panel) {
  const left = Math.max(area.left, x);
  if (left >= area.right) return;
  ctx.globalAlpha = 0.5;
  ctx.fillStyle = panel;
  ctx.fillRect(left, area.top, area.right - left, area.bottom - area.top);
  ctx.globalAlpha = 1;
}

/** Makes paler what comes after the time shown, while planned(). */
export function plannedShade(playhead, planned) {
  return {
    id: 'planned',
    afterDatasetsDraw(chart) {
      if (planned()) paintPlanned(chart.ctx, chart.chartArea, xOf(chart, playhead.ms), colors().panel);
    },
  };
}

/** Shades the times in which a real cluster was not seen, except those that begin after the playhead. */
export function unseenBands(view, playhead) {
  return {
    id: 'unseen',
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea: area } = chart;
      for (const [from, until] of view.unseen?.spans ?? []) {
        if (from > playhead.ms || until < view.from || from > view.to) continue;
        const [x, right] = [Math.max(xOf(chart, from), area.left), Math.min(xOf(chart, until), area.right)];
        paintUnseen(ctx, area, x, Math.max(right, x + 1), colors().muted);
      }
    },
  };
}

/**
 * Bands of the outages of a server, as in the schedule.
 *
 * @param {() => [from: number, until: number][]} outages
 */
export function outageBands(outages) {
  return {
    id: 'outages',
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea: area } = chart;
      const c = colors();
      for (const [from, until] of outages()) {
        const [x, right] = [Math.max(xOf(chart, from), area.left), Math.min(xOf(chart, until), area.right)];
        if (right <= area.left || x >= area.right) continue;
        ctx.fillStyle = c.same;
        ctx.fillRect(x, area.top, Math.max(1, right - x), area.bottom - area.top);
        ctx.fillStyle = c.muted; // the fill alone hardly differs from the background
        for (const edge of [area.top, area.bottom - 1]) ctx.fillRect(x, edge, Math.max(1, right - x), 1);
      }
    },
  };
}

function overlay(view, playhead) {
  return {
    id: 'overlay',
    afterDraw(chart) {
      const { ctx, chartArea } = chart;
      const c = colors();
      if (view.selected) range(chart, view.selected, c);
      line(chart, playhead.ms, c.accent, []);
      if (!playhead.following) line(chart, playhead.liveMs, c.muted, [2, 3]);
      if (view.cursor !== null) {
        line(chart, view.cursor, c.ink, []);
        if (chart.options.scales.x.ticks.display) label(chart, view.cursor, c);
      }
      const x = xOf(chart, playhead.ms);
      if (x < chartArea.left || x > chartArea.right) return;
      ctx.fillStyle = c.accent;
      ctx.beginPath();
      ctx.moveTo(x - 4, chartArea.top - 4);
      ctx.lineTo(x + 4, chartArea.top - 4);
      ctx.lineTo(x, chartArea.top + 2);
      ctx.fill();
    },
  };
}

/** A selected range: shaded, unless it fills the plot. */
function range(chart, { from, to }, c) {
  const { ctx, chartArea } = chart;
  const [x, right] = [from, to].map((ms) => Math.min(Math.max(xOf(chart, ms), chartArea.left), chartArea.right));
  if (right - x >= chartArea.right - chartArea.left - 1) return;
  ctx.save();
  ctx.globalAlpha = 0.14;
  ctx.fillStyle = c.accent;
  ctx.fillRect(x, chartArea.top, right - x, chartArea.bottom - chartArea.top);
  ctx.restore();
}

/** The time of the crosshair, on the axis. */
function label(chart, ms, c) {
  const { ctx, chartArea } = chart;
  const x = xOf(chart, ms);
  if (!(x >= chartArea.left && x <= chartArea.right)) return;
  ctx.save();
  ctx.font = `600 11px ${getComputedStyle(document.body).fontFamily}`;
  const text = clock(ms, chart.scales.x.step / 20);
  const width = ctx.measureText(text).width + 10;
  const left = Math.min(Math.max(x - width / 2, 2), chart.width - width - 2);
  ctx.fillStyle = c.ink;
  ctx.fillRect(left, chartArea.bottom + 3, width, 16);
  ctx.fillStyle = c.panel;
  ctx.textBaseline = 'middle';
  ctx.fillText(text, left + 5, chartArea.bottom + 11.5);
  ctx.restore();
}

function line(chart, ms, color, dash) {
  const { ctx, chartArea } = chart;
  const x = Math.round(xOf(chart, ms)) + 0.5;
  if (!(x >= chartArea.left && x <= chartArea.right)) return;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(x, chartArea.top);
  ctx.lineTo(x, chartArea.bottom);
  ctx.stroke();
  ctx.restore();
}
