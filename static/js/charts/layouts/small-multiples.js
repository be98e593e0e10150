// Small multiples: curves in plots of their own below each other, with one time axis and a value axis for each plot.

import { colors } from '../../util/colors.js';

// shares of the height of a plot
const EDGE = 0.1; // a label nearer to the edge would overlap one of the next plot
const MIN_GAP = 0.22; // labels nearer to each other would overlap
const MIN_LABELS = 2; // before numbers that are less round are labelled
const HEAD = 0.35; // of the height of the curves, above them for the title of the plot

/**
 * The plots of the curves: {of: Map of key -> id of the value axis, titles: {id: title}}, in the order of the curves.
 *
 * @param {any[]} curves
 * @param {(curve: any) => string} titleOf title of the plot of a curve
 */
export function plotsOf(curves, titleOf) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  for (const curve of curves) {
    const title = titleOf(curve);
    if (!ids.has(title)) ids.set(title, `y${ids.size}`);
  }
  return {
    of: new Map(curves.map((curve) => [curve.key, ids.get(titleOf(curve))])),
    titles: Object.fromEntries([...ids].map(([title, id]) => [id, title])),
  };
}

/**
 * Options of the value axes of the plots, the first one on top. Each has the options `y`, and fewer labels.
 *
 * @param {Record<string, string>} titles
 * @param {any} y
 */
export function stackedAxes(titles, y) {
  const ids = Object.keys(titles);
  return Object.fromEntries(
    ids.map((id, place) => [
      id,
      {
        ...y,
        position: 'left',
        stack: 'plots',
        weight: ids.length - place, // Chart.js puts the heaviest on top
        ticks: { ...y.ticks, maxTicksLimit: 4 },
        afterDataLimits: (/** @type {any} */ axis) => headroom(axis),
        afterBuildTicks: (/** @type {any} */ axis) => {
          axis.ticks = labelled(axis, axis.ticks);
        },
      },
    ]),
  );
}

/**
 * Extends an axis upwards, so that its curves stay below the title of the plot.
 *
 * @param {{type: string, min: number, max: number}} axis
 */
function headroom(axis) {
  const { type, min, max } = axis;
  if (!(max > min)) return;
  axis.max = type === 'logarithmic' ? max * (max / min) ** HEAD : max + (max - min) * HEAD;
}

/**
 * The ticks of an axis that have room for a label, from the lowest to the highest; on a logarithmic axis the roundest.
 *
 * @template {{value: number}} T
 * @param {{type: string, min: number, max: number}} axis
 * @param {T[]} ticks
 */
export function labelled({ type, min, max }, ticks) {
  const log = type === 'logarithmic';
  const place = log ? Math.log : Number;
  /** @param {T} tick */
  const shareOf = ({ value }) => (place(value) - place(min)) / (place(max) - place(min));
  /** @param {T} tick */
  const order = ({ value }) => (log ? coarseness(value) : 0);
  /** @type {T[]} */
  const chosen = [];
  /** @param {T} tick */
  const hasRoom = (tick) => {
    const share = shareOf(tick);
    const isFree = chosen.every((other) => Math.abs(shareOf(other) - share) >= MIN_GAP);
    return share >= EDGE && share <= 1 - EDGE && isFree;
  };
  const rising = [...ticks].sort((a, b) => a.value - b.value);
  for (const level of [0, 1, 2]) {
    if (chosen.length >= MIN_LABELS) break;
    for (const tick of rising) if (order(tick) === level && hasRoom(tick)) chosen.push(tick);
  }
  return chosen.sort((a, b) => a.value - b.value);
}

/** 0 for a power of ten, 1 for 2 or 5 times one, 2 for others. @param {number} value */
function coarseness(value) {
  const digit = Number(value.toExponential(6).split('e')[0]);
  if (digit === 1) return 0;
  return digit === 2 || digit === 5 ? 1 : 2;
}

/**
 * Writes the title of each plot into its corner, and separates the plots.
 *
 * @param {any} chart
 * @param {Record<string, string>} titles
 */
export function drawTitles(chart, titles) {
  const { ctx, chartArea, scales } = chart;
  const c = colors();
  ctx.save();
  ctx.font = `600 11px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textBaseline = 'top';
  for (const [id, title] of Object.entries(titles)) {
    const { top } = scales[id];
    if (top > chartArea.top) {
      ctx.fillStyle = c.muted;
      ctx.fillRect(0, Math.round(top), chartArea.right, 1);
    }
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = c.panel;
    ctx.fillRect(chartArea.left + 3, top + 3, ctx.measureText(title).width + 6, 14);
    ctx.globalAlpha = 1;
    ctx.fillStyle = c.ink;
    ctx.fillText(title, chartArea.left + 6, top + 4);
  }
  ctx.restore();
}
