// Distribution of a metric over the jobs: one curve per run, the share of jobs with at most a value.

import { Chart } from './parts/chartjs.js';
import { logTicks, shareAt, wide } from './parts/quantile-curve.js';
import { valueText } from '../core/metric-table.js';
import { colors, onTheme } from '../util/colors.js';
import { h } from '../ui/dom.js';
import { duration, lengthTicks, number, percent, significant } from '../util/format.js';
import { applyTheme } from './parts/time-chart.js';

const MAX_TICKS = 6; // of the axis of values
const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 4], [1, 3]]; // runs can be distinguished without colour

export class Spread {
  /** names: of the runs; tip: the tooltip inside the plot. */
  constructor(plot, tip, { key, title, unit, of }, names) {
    this.tip = tip;
    this.unit = unit;
    this.title = `${title}, ${of}`; // of the axis
    this.names = names;
    this.hidden = new Set();
    this.canvas = h('canvas', {
      tabindex: 0,
      role: 'img',
      'aria-label': `${title} ${of}; the Table button shows the same numbers`,
      id: `spread-${key}`,
    });
    this.nothing = h('p', { class: 'nothing muted small', hidden: true }, `${title} ${of}: none`);
    plot.append(this.canvas, tip.element, this.nothing);
    this.chart = new Chart(this.canvas, {
      type: 'line',
      data: { datasets: [] },
      options: {
        animation: false,
        responsive: true,
        maintainAspectRatio: false,
        events: [],
        parsing: false,
        normalized: true,
        layout: { padding: { top: 6, right: 14 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: {
            type: 'linear',
            border: { display: false },
            title: { display: true, text: this.title },
            ticks: {
              maxRotation: 0,
              autoSkipPadding: 14,
              maxTicksLimit: MAX_TICKS,
              callback: (value) => this.#tick(value),
            },
          },
          y: {
            min: 0,
            max: 100,
            border: { display: false },
            title: { display: true, text: 'share of jobs' },
            ticks: { stepSize: 25, callback: (value) => `${value} %` },
          },
        },
      },
    });
    this.canvas.addEventListener('pointermove', (event) => this.#hover(event));
    this.canvas.addEventListener('pointerleave', () => tip.hide());
    onTheme(() => this.curves && this.paint(this.curves));
  }

  paint(curves) {
    this.curves = curves;
    this.nothing.hidden = curves.some(({ jobs }) => jobs);
    this.canvas.hidden = !this.nothing.hidden;
    const log = this.unit !== '' && wide(curves);
    const { x } = this.chart.options.scales;
    const least = Math.min(...curves.flatMap(({ values }) => values.filter((value) => value > 0).slice(0, 1)));
    x.type = log ? 'logarithmic' : 'linear';
    x.title.text = log ? `${this.title} (logarithmic)` : this.title;
    x.min = log ? least : undefined;
    x.afterBuildTicks = (axis) => {
      const found = log
        ? logTicks(axis.min, axis.max, this.unit)
        : this.unit === 'ms' && lengthTicks(axis.min, axis.max, MAX_TICKS - 1).ticks;
      if (found) axis.ticks = found.map((value) => ({ value }));
    };
    const c = colors();
    this.chart.data.datasets = curves.map(({ values }, i) => ({
      data: values.map((value, at) => ({
        x: log ? Math.max(value, least) : value,
        y: (100 * at) / (values.length - 1),
      })),
      borderColor: c.jobs[i],
      borderDash: DASHES[i],
      borderWidth: 1.75,
      pointRadius: 0,
      hidden: this.hidden.has(i),
    }));
    applyTheme(this.chart);
    this.chart.update('none');
  }

  #tick(value) {
    if (this.unit === 'ms') return value ? duration(value).replace(/ 0 \w+$/, '') : '0';
    return this.unit === 'x' ? `${significant(value)} ×` : significant(value);
  }

  #hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const { chartArea: area, scales } = this.chart;
    if (px < area.left || px > area.right || py < area.top || py > area.bottom) return this.tip.hide();
    const x = scales.x.getValueForPixel(px);
    const lines = this.curves
      .map(({ values }, i) => [this.names[i], percent(shareAt(values, x), 1), i])
      .filter((_, i) => !this.hidden.has(i));
    this.tip.show([[`at most ${valueText(x, this.unit)}`, ''], ...lines], px, py, this.canvas);
  }
}

const READ = [0, 10, 25, 50, 75, 90, 95, 99, 100];

/** The quantiles of all distributions as a table. */
export function spreadTable(distributions, names, hidden = new Set()) {
  const rows = distributions.flatMap(({ title, unit, curves }) =>
    curves.flatMap(({ jobs, values }, i) =>
      hidden.has(i)
        ? []
        : [[title, names[i], number(jobs, 0), ...READ.map((at) => valueText(values[at] ?? null, unit))]],
    ),
  );
  return {
    head: ['Metric', 'Run', 'Jobs', ...READ.map((at) => (at === 0 ? 'Minimum' : at === 100 ? 'Maximum' : `${at} %`))],
    rows,
    total: rows.length,
  };
}
