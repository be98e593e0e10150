// Base of the bar charts of a trace: a Chart.js bar chart in the theme's colours with its tooltip.

import { Chart } from './chartjs.js';
import { colors } from '../../util/colors.js';
import { number } from '../../util/format.js';
import { followTheme, onHover } from './still-chart.js';

/**
 * bars: {data, labels}; x: options of the axis below; yTitle: unit of the values; describe(index) -> lines of the tip.
 */
export function histogram(canvas, tip, /** @type {any} */ { data, labels, x, yTitle, describe, plugins = [], color }) {
  const paint = (context) => (color ? color(context.dataIndex, colors()) : colors().accent);
  const chart = new Chart(canvas, {
    type: 'bar',
    data: {
      labels,
      datasets: [
        {
          data,
          parsing: labels ? undefined : false,
          barPercentage: labels ? 0.8 : 1,
          categoryPercentage: labels ? 0.9 : 1,
          backgroundColor: paint,
          minBarLength: 2,
        },
      ],
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      events: [],
      layout: { padding: { top: 6, right: 12 } },
      plugins: { legend: { display: false }, tooltip: { enabled: false } },
      scales: {
        x: { ...x, border: { display: false }, grid: { display: !labels, offset: false } },
        y: {
          beginAtZero: true,
          border: { display: false },
          title: { display: true, text: yTitle },
          ticks: { maxTicksLimit: 5, precision: 0, callback: (v) => (Number.isInteger(v) ? number(v, 0) : '') },
        },
      },
    },
    plugins,
  });
  followTheme(chart);
  onHover(canvas, tip, (px, py) => {
    const { chartArea: area } = chart;
    const inside = px >= area.left && px <= area.right && py >= area.top && py <= area.bottom;
    const at = inside ? indexAt(chart, px, data.length, labels) : -1;
    if (at < 0 || at >= data.length) tip.hide();
    else tip.show(describe(at), px, py, canvas);
  });
  return chart;
}

function indexAt(chart, px, count, labels) {
  const { x } = chart.scales;
  if (labels) return x.getValueForPixel(px);
  return Math.floor((count * (x.getValueForPixel(px) - x.min)) / (x.max - x.min));
}
