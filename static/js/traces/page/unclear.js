// A trace whose format is not known: its first lines, and the form in which it is stated.

import { $, fill, h } from '../../ui/dom.js';
import { firstLines } from '../first-lines.js';
import { readingForm } from '../reading-form.js';

/** page: {operator, formats, load()}. */
export function paintUnclear(trace, { operator, formats, load }) {
  const { unclear, refused, files = [] } = trace.scan;
  const notice = h('p', { class: 'notice bad', role: 'alert' }, refused ?? unclear); // of the last scan
  const form =
    operator && files.length
      ? h(
          'section',
          { class: 'card' },
          h('header', {}, h('h2', {}, 'Unknown format')),
          readingForm(trace, formats, load),
        )
      : null;
  const known = formats.map(([, title]) => title);
  fill($('#unclear'), notice, firstLines(files, known), form);
}
