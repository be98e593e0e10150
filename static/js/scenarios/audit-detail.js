// Details of an entry of the audit list: the change, with times and edits in words.

import { endingText } from '../util/alert-words.js';
import { duration } from '../util/format.js';
import { editLine } from './edit-line.js';
import { named } from './sweep-axes.js';
import { modeText } from '../util/run-modes.js';

/** Labels of what an entry states, where its key in words is none. */
const LABELS = { in_place_of: 'in place of run', live: 'as live run', max_jobs: 'maximum number of jobs' };

/** Titles of connectors, as in twin/connectors. */
const CONNECTORS = { slurm: 'Slurm', kubernetes: 'Kubernetes', push: 'Push', replay: 'Replay' };

/** Fields whose value is a list of names of fields. */
const NAMES = ['changed'];

/**
 * {name: 'demo', at_ms: 3600000, after: {edits: [...]}} -> 'demo, at 01:00:00, after: Fail servers at …'.
 * known: {schedulers, verbs} from /api/schedulers/ and /api/edits/.
 */
export function detailText(detail, known = null) {
  return Object.entries(detail)
    .map(([key, value]) => (key === 'name' ? plain(value) : field(key, value, known)))
    .join(', ');
}

function field(key, value, known) {
  if (Array.isArray(value?.edits)) {
    const { edits, ...others } = value;
    const lines = edits.map((edit) => editLine(edit, known?.verbs ?? [], known?.schedulers)).join('; ') || 'no edits';
    return [`${key}: ${lines}`, ...Object.entries(others).map(([name, other]) => field(name, other, known))].join(', ');
  }
  if (key === 'seconds') return `for ${value} s`;
  if (key === 'reason') return `reason: ${plain(value)}`;
  if (key === 'speed') return `speed ${duration(value * 1000)} per second`;
  if (key === 'ending') return `reason for the end: ${endingText(value)}`;
  if (key === 'mode') return `mode ${modeText(value)}`;
  if (key === 'scheduler') return `scheduler ${known?.schedulers.find(({ name }) => name === value)?.title ?? value}`;
  if (key === 'connector') return `connector ${CONNECTORS[value] ?? value}`;
  if (NAMES.includes(key)) return `${key} ${String(value).replace(/_ms\b/g, '').replaceAll('_', ' ')}`;
  const { title, text } = named({ field: key }, LABELS[key] ?? key);
  return `${title} ${typeof value === 'number' ? text(value) : plain(value, known)}`;
}

/** A value in words: a list by its parts, an object by its fields in brackets. */
function plain(value, known = null) {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => plain(one, known)).join(', ') || 'none';
  if (typeof value === 'object')
    return `(${Object.entries(value)
      .map(([key, one]) => field(key, one, known))
      .join(', ')})`;
  return String(value);
}
