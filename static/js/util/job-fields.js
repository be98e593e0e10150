// Display of a job's fields: the value with its unit.

import { clock, duration, number } from './format.js';

const UNITS = [
  ['_mb', 'MB'],
  ['_gb', 'GB'],
  ['_gbps', 'Gbps'],
];

/**
 * @param {string} name
 * @param {any} value
 * @returns {string}
 */
export function fieldText(name, value) {
  if (value === null || value === undefined) return '–';
  if (name === 'arrival_ms') return clock(value);
  if (name === 'worker' || name === 'ps') {
    const { gpu, cpu, memory, storage, bandwidth } = value;
    const amounts = [
      [gpu, 'GPU'],
      [cpu, 'vCPU'],
      [memory, 'GB memory'],
      [storage, 'GB storage'],
      [bandwidth, 'Gbps'],
    ];
    return amounts.map(([amount, unit]) => `${number(amount)} ${unit}`).join(', ');
  }
  if (name === 'utility') {
    const { priority, sensitivity, target_slots: target } = value;
    const slots = `${number(sensitivity, 4)} per slot, target ${number(target)} slots`;
    return `priority ${number(priority)}, sensitivity ${slots}`;
  }
  if (Array.isArray(value)) return value.length > 6 ? spread(value) : value.join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'number') return String(value);
  for (const [suffix, unit] of UNITS) if (name.endsWith(suffix)) return `${number(value, 3)} ${unit}`;
  if (name.endsWith('_ms')) return value < 1000 && value % 1 ? `${number(value, 3)} ms` : duration(value);
  return number(value, 4);
}

/** @param {number[]} values */
function spread(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${values.length} values, ${fieldText('', least)} to ${fieldText('', most)}`;
}

/**
 * The word for the origin of a value: 'drawn' is the value that files use for sampled ones.
 *
 * @param {string} origin
 */
export const originText = (origin) => (origin === 'drawn' ? 'sampled' : origin.replaceAll('_', ' '));
