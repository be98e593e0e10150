// Metrics of a sweep: means over seeds with confidence intervals, and the axes of a form.

import { duration, plural } from '../util/format.js';
import { momentText } from '../util/time-text.js';

const NUMBERS = '1, 2, 5 or 0.1..1 by 0.1 or 1..64 times 2';
const MAX_LISTED = 10; // values of an axis; of more, the first two and the last are listed
// Fields that are points in time; others are durations.
const MOMENTS = ['at_ms', 'from_ms', 'to_ms', 'arrival_ms', 'clock_ms'];

// Two-sided 95 % quantiles of Student's t for 1, 2, ... degrees of freedom; beyond by its expansion from the normal
// one.
const T95 = [
  12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004, 2.262157, 2.228139, 2.200985,
  2.178813, 2.160369, 2.144787, 2.13145, 2.119905, 2.109816, 2.100922, 2.093024, 2.085963,
];

/** {mean, half, count}: the mean of the numbers and half of its 95 % confidence interval; null where there is none. */
export function confidence(values) {
  const known = values.filter((value) => Number.isFinite(value));
  if (!known.length) return { mean: null, half: null, count: 0 };
  if (known.length < 2) return { mean: known[0], half: null, count: 1 };
  // the sum of equal values is rounded, and their mean would differ from them
  if (known.every((value) => value === known[0])) return { mean: known[0], half: 0, count: known.length };
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  const variance = known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (known.length - 1);
  return { mean, half: t95(known.length - 1) * Math.sqrt(variance / known.length), count: known.length };
}

/**
 * The quantile for a number of degrees of freedom.
 *
 * @param {number} freedom
 */
function t95(freedom) {
  const z = 1.959964;
  return (
    T95[freedom - 1] ?? z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2)
  );
}

/** Map of 'i' or 'i,j' -> {mean, half, count, points} of a metric. */
export function cells(points, metric) {
  const groups = new Map();
  for (const point of points) {
    const key = point.place.join(',');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(point);
  }
  return new Map(
    [...groups].map(([key, own]) => [key, { ...confidence(own.map(({ figures }) => figures[metric])), points: own }]),
  );
}

/**
 * Field of an edit as a label: 'Duration of edit 1 (Fail servers), ms'. verbs: from /api/edits/.
 *
 * @param {{name: string, title: string, parameters: {name: string, title: string, unit: string}[]}[]} verbs
 * @param {string} verb
 * @param {number} place
 * @param {string} field
 */
export function editFieldTitle(verbs, verb, place, field) {
  const known = verbs.find(({ name }) => name === verb);
  const declared = field === 'at_ms' ? { title: 'Time', unit: 'ms' } : known?.parameters.find((p) => p.name === field);
  const unit = declared?.unit ? `, ${declared.unit}` : '';
  return `${declared?.title ?? field} of edit ${place} (${known?.title ?? verb})${unit}`;
}

/** {title, text(value)} of an axis; `title` is its name from the API, or a given one; choices: {value: title}. */
export function named(axis, title, choices = {}) {
  const field = axis.parameter ?? axis.field;
  const text = (value) => {
    if (value in choices) return choices[value];
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    if (!field.endsWith('_ms') || typeof value !== 'number') return String(value);
    return MOMENTS.includes(field) ? momentText(value) : duration(value);
  };
  return { title: title.replace(/_ms$/, '').replaceAll('_', ' '), text };
}

/** '1, 2, … 399 (399 values)' of many values, all of a few; text: function of a value. */
export function valuesText(values, text) {
  if (values.length <= MAX_LISTED) return values.map(text).join(', ');
  return `${values.slice(0, 2).map(text).join(', ')}, … ${text(values.at(-1))} (${plural(values.length, 'value')})`;
}

/** Values of an axis as they can be typed: the words of a choice, otherwise numbers. */
export function exampleValues(declared) {
  const words = declared?.choices ?? (declared?.type === 'bool' ? ['true', 'false'] : null);
  return words ? words.join(', ') : NUMBERS;
}

/**
 * The values of an axis as typed: '1, 2, 5', '0.1..1 by 0.1' or '1..64 times 2'; an error's message says what would
 * work.
 */
export function parseValues(text, example = NUMBERS) {
  const range = /^\s*(-?[\d.]+)\s*\.\.\s*(-?[\d.]+)\s+(by|times)\s+([\d.]+)\s*$/.exec(text);
  if (!range) {
    const words = text
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean);
    if (!words.length) throw new Error(`Enter values such as ${example}.`);
    return words.map((word) => (word !== '' && Number.isFinite(Number(word)) ? Number(word) : word));
  }
  const [from, to, step] = [Number(range[1]), Number(range[2]), Number(range[4])];
  const by = range[3] === 'by';
  if (!(to > from) || !(by ? step > 0 : step > 1 && from > 0))
    throw new Error(`${text.trim()}: a range must rise, with a step above 0 or a factor above 1.`);
  const values = [];
  for (let value = from, n = 0; value <= to * (1 + 1e-9); n++, value = by ? from + step * n : from * step ** n) {
    values.push(Number(value.toPrecision(12)));
    if (values.length > 10_000) throw new Error(`${text.trim()}: more than 10,000 values.`);
  }
  return [...new Set(values)];
}
