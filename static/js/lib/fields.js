// How a job's field is shown: its value with its unit.

import { clock, duration, number } from './format.js';

export function fieldText(name, value) {
  if (value === null || value === undefined) return '–';
  if (name === 'arrival_ms') return clock(value);
  if (name === 'worker' || name === 'ps') {
    return `${number(value.gpu)} GPU, ${number(value.cpu)} vCPU, ${number(value.memory)} GB memory, ${number(value.storage)} GB storage, ${number(value.bandwidth)} Gbps`;
  }
  if (name === 'utility') return `priority ${number(value.priority)}, sensitivity ${number(value.sensitivity, 4)} per slot, target ${number(value.target_slots)} slots`;
  if (Array.isArray(value)) return value.length > 6 ? `${value.length} values, ${fieldText('', Math.min(...value))} to ${fieldText('', Math.max(...value))}` : value.join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'number') return String(value);
  for (const [suffix, unit] of [['_mb', 'MB'], ['_gb', 'GB'], ['_gbps', 'Gbps']]) if (name.endsWith(suffix)) return `${number(value, 3)} ${unit}`;
  if (name.endsWith('_ms')) return value < 1000 && value % 1 ? `${number(value, 3)} ms` : duration(value);
  return number(value, 4);
}
