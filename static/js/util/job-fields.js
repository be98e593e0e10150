// Display of a job's fields: the value with its unit.

import { capital, clock, duration, number, plural } from './format.js';

const UNITS = [
  ['_mb', 'MB'],
  ['_gb', 'GB'],
  ['_gbps', 'Gbps'],
];

/** Titles of the fields of a job, as in scheduling/reporting/job_fields.py. */
export const TITLES = {
  id: 'Id',
  arrival_ms: 'Arrival',
  model: 'Model',
  epochs: 'Training epochs',
  num_chunks: 'Chunks',
  minibatches_per_chunk: 'Mini-batches per chunk',
  minibatch_ms: 'Time per mini-batch',
  gradient_mb: 'Gradient size',
  worker: 'Resources of a worker',
  ps: 'Resources of a parameter server',
  num_samples: 'Training samples',
  global_batch: 'Global batch size',
  sample_ms: 'Time per training sample',
  workers_per_ps: 'Workers per parameter server',
  internal_gbps: 'Internal bandwidth',
  external_gbps: 'External bandwidth',
  ps_update_ms: 'Time per parameter update',
  worker_type: 'Worker type',
  ps_type: 'Parameter server type',
  upload_ms: 'Upload times',
  cloud_upload_ms: 'Upload time to the unlimited cloud',
  chunk_mb: 'Chunk size',
  requested_workers: 'Requested workers',
  comp_machine_ms: 'Computation per iteration on one machine',
  comm_ms: 'Communication per iteration',
  iterations: 'Iterations',
  iterations_per_epoch: 'Iterations per epoch',
  input_gb: 'Input size',
  model_gb: 'Model size',
  user: 'User',
  limit_ms: 'Time limit',
  group: 'Queue',
  utility: 'Utility',
  earlier_sizes: 'Earlier sizes',
};

/** @type {Record<string, string>} */
const WHOLES = { worker: 'a worker', ps: 'a parameter server' };
/** @type {Record<string, string>} */
const PARTS = { gpu: 'GPU', cpu: 'vCPU' };

/** The name of a resource within a text. @param {string} part */
export const partName = (part) => PARTS[part] ?? part;

/**
 * The label of a field or of a resource of it, such as worker.gpu; a field that has no title keeps its name.
 *
 * @param {string} name
 */
export function fieldTitle(name) {
  const [whole, part] = name.split('.');
  if (part && whole in WHOLES) return `${capital(partName(part))} of ${WHOLES[whole]}`;
  return /** @type {Record<string, string>} */ (TITLES)[name] ?? name;
}

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
    const some = amounts.filter(([amount]) => amount > 0);
    return some.map(([amount, unit]) => `${number(amount)} ${unit}`).join(', ') || 'none';
  }
  if (name === 'utility') {
    const { priority, sensitivity, target_slots: target } = value;
    const slots = `${number(sensitivity, 4)} per slot, target ${number(target)} slots`;
    return `priority ${number(priority)}, sensitivity ${slots}`;
  }
  if (Array.isArray(value)) return value.length > 6 ? spread(name, value) : value.join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  if (typeof value !== 'number') return String(value);
  for (const [suffix, unit] of UNITS) if (name.endsWith(suffix)) return `${number(value, 3)} ${unit}`;
  if (name.endsWith('_ms')) return value < 1000 && value % 1 ? `${number(value, 3)} ms` : duration(value);
  return number(value, 4);
}

/**
 * @param {string} name
 * @param {number[]} values
 */
function spread(name, values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${plural(values.length, 'value')}, ${fieldText(name, least)} to ${fieldText(name, most)}`;
}

/**
 * The word for the origin of a value: 'drawn' is the value that files use for sampled ones.
 *
 * @param {string} origin
 */
export const originText = (origin) => (origin === 'drawn' ? 'sampled' : origin.replaceAll('_', ' '));
