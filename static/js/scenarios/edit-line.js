// One edit of a scenario as a line of text.

import { capital, clock, lowered } from '../util/format.js';
import { parameterTexts } from './parameter-texts.js';
import { named } from './sweep-axes.js';

/**
 * 'Fail servers at 10:00:00: servers edge-0, for 6h'.
 *
 * @param {Record<string, any>} edit
 * @param {any[]} verbs from /api/edits/
 * @param {any[]} schedulers from /api/schedulers/, for titles and units of their parameters
 */
export function editLine(edit, verbs, schedulers = []) {
  const verb = verbs.find(({ name }) => name === edit.verb);
  const title = verb?.title ?? capital(edit.verb.replaceAll('_', ' '));
  const declared = (key) => verb?.parameters?.find(({ name }) => name === key);
  const fields = Object.entries(edit)
    .filter(([key, value]) => !['verb', 'at_ms', 'off'].includes(key) && value !== null && value !== '')
    .flatMap(([key, value]) => {
      if (key === 'parameters')
        return parameterTexts(value, schedulers.find(({ name }) => name === edit.scheduler)?.parameters ?? []);
      const { title: label = key, titles = {} } = declared(key) ?? {};
      const { title: name, text } = named({ field: key }, declared(key) ? lowered(label) : key, titles);
      return `${name} ${text(value)}`;
    });
  const detail = fields.length ? `: ${fields.join(', ')}` : '';
  return `${edit.off ? '(off) ' : ''}${title} at ${clock(edit.at_ms ?? 0)}${detail}`;
}
