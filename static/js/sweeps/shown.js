// Content of the page of a sweep: the metric, the axes, and the cells of the grid, of an answer of the API.

import { valueText } from '../core/metric-table.js';
import { cells, named } from '../scenarios/sweep-axes.js';
import { alignedText, telling } from '../util/format.js';

/**
 * answer: of GET /api/sweeps/N/points/; metric: its row of the table of metrics. {metric, text(value), axes:
 * [{title, text(value), values}], cell(i, j), numeric: whether curves over the first axis can be drawn}.
 */
export function shownOf(answer, metric) {
  const { points } = answer;
  const axes = answer.axes.map((axis, n) => ({
    ...named(axis, answer.titles[n], answer.choices[n]),
    values: axis.values,
  }));
  const found = cells(points, metric.key);
  const [{ values }, down] = axes;
  return {
    metric,
    text: textOf(
      points.map(({ figures }) => figures[metric.key]),
      metric.unit,
    ),
    axes,
    cell: (i, j) => found.get(down ? `${i},${j}` : `${i}`),
    numeric: values.length > 1 && values.every((value) => typeof value === 'number'),
  };
}

/** Text of a metric value. A fraction without a unit has as many digits as different values need to look different. */
function textOf(values, unit) {
  const digits = telling(values);
  const most = Math.max(0, ...values.map(Math.abs).filter(Number.isFinite));
  const whole = values.every((value) => !Number.isFinite(value) || Number.isInteger(value));
  return (value) => (unit === '' && !whole ? alignedText(value, digits, most) : valueText(value, unit));
}
