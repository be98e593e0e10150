// The table of metrics, as GET /api/metrics/ gives it: key, title, unit, direction, definition; and values as text.

import { duration, number, percent } from '../util/format.js';
import { get } from './api.js';

const MIN_MS = 0.01; // two decimals

/** @typedef {{key: string, title: string, unit: string, direction: string, definition: string}} Metric */

/** @type {Promise<Map<string, Metric>> | null} */
let table = null;

/**
 * Map of key -> metric, in the order shown; fetched once per page.
 *
 * @returns {Promise<Map<string, Metric>>}
 */
export function metricTable() {
  table ??= get('/api/metrics/')
    .then(tableOf)
    .catch((error) => {
      table = null; // the next call tries again
      throw error;
    });
  return table;
}

/**
 * The same of the rows of the answer.
 *
 * @param {Metric[]} rows
 */
export const tableOf = (rows) => new Map(rows.map((row) => [row.key, row]));

/**
 * The value of a key in the metrics of a run, or null.
 *
 * @param {any} metrics
 * @param {string} key
 */
export function valueOf(metrics, key) {
  return key.split('.').reduce((/** @type {any} */ value, part) => value?.[part], metrics) ?? null;
}

/**
 * A value as text with its unit.
 *
 * @param {number | null | undefined} value
 * @param {string} unit
 */
export function valueText(value, unit) {
  if (value === null || value === undefined) return '–';
  if (unit === 'ms' && value > 0 && value < MIN_MS) return `< ${MIN_MS} ms`;
  if (unit === 'ms') return value < 1000 && value % 1 ? `${number(value, 2)} ms` : duration(value);
  if (unit === 'share') return percent(value, 1);
  if (unit === 'x') return `${number(value, 2)} ×`;
  return number(value, 2);
}
