// A figure of an experiment: lines over a number or bars of categories, with the spread over the seeds and the levels
// that the paper states.

import { Chart } from './parts/chartjs.js';
import { colors, JOB_COLORS } from '../util/colors.js';
import { significant, unitText } from '../util/format.js';
import { h } from '../ui/dom.js';
import { Tip, tipElement } from '../ui/tooltip.js';
import { followTheme, onHover } from './parts/still-chart.js';

const [BAR_PX, CATEGORY_GAP_PX, AXIS_PX, LINES_PX] = [15, 12, 56, 280];
const CAP_PX = 4; // half the width of the end of a whisker
const DASHES = [[], [6, 3], [2, 3], [8, 3, 2, 3]];
const LABEL_CHARACTERS = 26; // of a category in a line of its label

/**
 * Fills the plot with a chart. shape: what seriesOf gives; chart: {y, unit, levels}; title: of the whole figure.
 *
 * @param {HTMLElement} plot
 */
export function experimentFigure(plot, { lines, xTitle, series }, chart, title) {
  const yTitle = chart.unit ? `${chart.y}, ${unitText(chart.unit)}` : chart.y;
  const labels = series[0].points.map(({ label }) => label);
  plot.style.height = `${lines ? LINES_PX : AXIS_PX + labels.length * (series.length * BAR_PX + CATEGORY_GAP_PX)}px`;
  const canvas = h('canvas', { role: 'img', 'aria-label': `${title}: ${yTitle}; the Table button shows the values` });
  const tip = new Tip(tipElement());
  plot.append(canvas, tip.element);
  const value = { beginAtZero: !lines, title: { display: true, text: yTitle }, ticks: { maxTicksLimit: 7 } };
  const drawnToo = [
    ...chart.levels.map(([, level]) => level),
    ...series.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high])).filter((end) => end !== null),
  ];
  if (drawnToo.length)
    Object.assign(value, { suggestedMin: Math.min(...drawnToo), suggestedMax: Math.max(...drawnToo) });
  value.ticks.callback = (tick) => significant(tick);
  const category = lines
    ? { type: 'linear', title: { display: true, text: xTitle }, offset: true, ticks: { maxTicksLimit: 8 } }
    : { type: 'category', grid: { display: false }, ticks: { autoSkip: false, callback: (i) => wrapped(labels[i]) } };
  const drawn = new Chart(canvas, {
    type: lines ? 'line' : 'bar',
    data: {
      labels: lines ? undefined : labels,
      datasets: series.map(({ points }, i) => ({
        data: points.map(({ x, value: own }) => (lines ? { x, y: own } : own)),
        borderDash: lines ? DASHES[Math.floor(i / JOB_COLORS) % DASHES.length] : undefined,
        borderWidth: lines ? 2 : 0,
        backgroundColor: () => colors().jobs[i % JOB_COLORS],
        borderColor: () => colors().jobs[i % JOB_COLORS],
        pointRadius: 3,
        barPercentage: 0.9,
        categoryPercentage: 0.85,
        minBarLength: 2,
      })),
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      events: [],
      indexAxis: lines ? 'x' : 'y',
      layout: { padding: { top: 14, right: 16 } },
      plugins: { legend: { display: false }, tooltip: { enabled: false } },
      scales: lines ? { x: category, y: value } : { y: category, x: value },
    },
    plugins: [whiskers(series, lines), levelLines(chart.levels, lines)],
  });
  followTheme(drawn);
  onHover(canvas, tip, (px, py) => {
    const at = nearest(drawn, lines, series[0].points, px, py);
    if (at < 0) return tip.hide();
    const head = lines ? `${xTitle} ${labels[at]}` : labels[at];
    return tip.show(
      [[head, yTitle], ...series.map((one, i) => [one.name, pointText(one.points[at]), i])],
      px,
      py,
      canvas,
    );
  });
  return drawn;
}

/** The names of the series with their colours, and what the whiskers and dashed lines are. */
export function figureLegend({ series }, chart) {
  const spread = series.some(({ points }) => points.some(({ low, high }) => low !== null && low !== high));
  const notes = [
    spread ? 'whiskers: smallest and largest value over the seeds' : '',
    ...chart.levels.map(([words, level]) => `dashed: ${words} ${significant(level)}`),
  ].filter(Boolean);
  return h(
    'p',
    { class: 'muted small figure-legend' },
    series.map(({ name }, i) => h('span', {}, h('i', { class: `swatch job-${i % JOB_COLORS}` }), name)),
    notes.length ? h('span', {}, notes.join('; ')) : null,
  );
}

function pointText({ value, low, high }) {
  if (value === null) return 'none';
  return low !== null && low !== high
    ? `${significant(value)} (${significant(low)} to ${significant(high)})`
    : significant(value);
}

/** A long label on two or more lines. */
function wrapped(label) {
  const rows = [''];
  for (const word of label.split(' ')) {
    const last = rows[rows.length - 1];
    if (last && last.length + word.length >= LABEL_CHARACTERS) rows.push(word);
    else rows[rows.length - 1] = last ? `${last} ${word}` : word;
  }
  return rows;
}

/** Index of the point below the cursor; -1 outside of the axes. */
function nearest({ chartArea: area, scales }, lines, points, px, py) {
  if (px < area.left || px > area.right || py < area.top || py > area.bottom) return -1;
  if (!lines) return Math.min(points.length - 1, Math.max(0, scales.y.getValueForPixel(py)));
  const x = scales.x.getValueForPixel(px);
  const far = points.map((point) => Math.abs(point.x - x));
  return far.indexOf(Math.min(...far));
}

function whiskers(series, lines) {
  return {
    id: 'whiskers',
    afterDatasetsDraw(chart) {
      const { ctx, scales } = chart;
      const { ink, panel } = colors();
      ctx.save();
      ctx.beginPath();
      for (const [i, { points }] of series.entries()) {
        for (const [n, { low, high }] of points.entries()) {
          if (low === null || high === null || low === high) continue;
          const { x, y } = chart.getDatasetMeta(i).data[n];
          if (lines) bar(ctx, x, scales.y.getPixelForValue(low), x, scales.y.getPixelForValue(high), CAP_PX, 0);
          else bar(ctx, scales.x.getPixelForValue(low), y, scales.x.getPixelForValue(high), y, 0, CAP_PX);
        }
      }
      [ctx.strokeStyle, ctx.lineWidth] = [panel, 3]; // a bar of the series may be as dark as the ink
      ctx.stroke();
      [ctx.strokeStyle, ctx.lineWidth] = [ink, 1];
      ctx.stroke();
      ctx.restore();
    },
  };
}

/** A line with caps across its ends. */
function bar(ctx, x0, y0, x1, y1, capX, capY) {
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  for (const [x, y] of [
    [x0, y0],
    [x1, y1],
  ]) {
    ctx.moveTo(x - capX, y - capY);
    ctx.lineTo(x + capX, y + capY);
  }
}

function levelLines(levels, lines) {
  return {
    id: 'levels',
    afterDatasetsDraw({ ctx, chartArea: area, scales }) {
      const { ink } = colors();
      ctx.save();
      ctx.strokeStyle = ink;
      ctx.setLineDash([5, 4]);
      for (const [, level] of levels) {
        const at = (lines ? scales.y : scales.x).getPixelForValue(level);
        ctx.beginPath();
        ctx.moveTo(lines ? area.left : at, lines ? at : area.top);
        ctx.lineTo(lines ? area.right : at, lines ? at : area.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}
