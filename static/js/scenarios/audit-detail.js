// What an entry of the audit list states about a change, with times and edits in words.

import { editLine } from './edit-conflict.js';
import { named } from './sweep-axes.js';

/** Labels of what an entry states, where its key in words is none. */
const LABELS = { in_place_of: 'in place of run', live: 'as live run' };

/** {name: 'demo', at_ms: 3600000, after: {edits: [...]}} -> 'demo, at 01:00:00, after: Fail servers at …'. */
export function detailText(detail) {
  return Object.entries(detail)
    .map(([key, value]) => (key === 'name' ? plain(value) : field(key, value)))
    .join(', ');
}

function field(key, value) {
  if (Array.isArray(value?.edits)) {
    const { edits, ...others } = value;
    const lines = edits.map((edit) => editLine(edit, [])).join('; ') || 'no edits';
    return [`${key}: ${lines}`, ...Object.entries(others).map(([name, other]) => field(name, other))].join(', ');
  }
  if (key === 'seconds') return `duration ${value} s`;
  const { title, text } = named({ field: key }, LABELS[key] ?? key);
  return `${title} ${typeof value === 'number' ? text(value) : plain(value)}`;
}

/** A value in words: a list by its parts, an object by its fields in brackets. */
function plain(value) {
  if (value === null || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(plain).join(', ') || 'none';
  if (typeof value === 'object')
    return `(${Object.entries(value)
      .map(([key, one]) => field(key, one))
      .join(', ')})`;
  return String(value);
}
