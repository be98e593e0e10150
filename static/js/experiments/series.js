// Series of a chart of an experiment, from its table.

/**
 * @typedef {{label: string, x: number | null, value: number | null, low: number | null, high: number | null}} Point
 * @typedef {{name: string, points: Point[]}} Series
 */

/**
 * {lines: whether the points are on a numeric axis, xTitle, series}; chart: {columns, rows, turned, variant} as the API
 * gives it.
 *
 * @param {{columns: string[], rows: any[][], spread: any[][]}} table
 * @param {{columns: string[], rows: string[], turned: boolean, variant: string}} chart
 * @returns {{lines: boolean, xTitle: string, series: Series[]}}
 */
export function seriesOf(table, chart) {
  const columns = table.columns.map((_, i) => i).slice(1);
  const drawn = chart.columns.length ? columns.filter((i) => chart.columns.includes(table.columns[i])) : columns;
  const rows = table.rows.map((_, i) => i);
  const suffix = chart.variant ? `, ${chart.variant}` : '';
  const first = (row) => {
    const [name] = table.rows[row];
    return suffix ? Number(String(name).slice(0, -suffix.length)) : name;
  };
  const shown = rows.filter((row) => {
    const [name] = table.rows[row];
    const label = String(name);
    return suffix ? label.endsWith(suffix) : !chart.rows.length || chart.rows.includes(label);
  });
  const at = (row, column) => ({
    value: finite(table.rows[row][column]),
    low: finite(table.spread[row]?.[column]?.[0]),
    high: finite(table.spread[row]?.[column]?.[1]),
  });
  if (chart.turned)
    return {
      lines: false,
      xTitle: '',
      series: shown.map((row) => ({
        name: named(table, row),
        points: drawn.map((column) => ({ label: table.columns[column], x: null, ...at(row, column) })),
      })),
    };
  const numeric = shown.length > 1 && shown.every((row) => typeof first(row) === 'number');
  return {
    lines: numeric,
    xTitle: table.columns[0],
    series: drawn.map((column) => ({
      name: table.columns[column],
      points: shown.map((row) => ({
        label: String(first(row)),
        x: numeric ? first(row) : null,
        ...at(row, column),
      })),
    })),
  };
}

/** Name of a row: its number with the title of the first column. */
function named({ columns, rows }, row) {
  const [first] = rows[row];
  return typeof first === 'number' ? `${first} ${columns[0]}` : String(first);
}

/** @param {any} value */
const finite = (value) => (typeof value === 'number' ? value : null);
