// Line below the name of a scenario: its parts, and the run that it continues.

import { inCharge } from '../../core/phases.js';
import { lowered, plural } from '../../util/format.js';
import { momentText } from '../../util/time-text.js';
import { fill, h } from '../../ui/dom.js';

/** found: the scenario of the API. */
export function paintAbout(box, found) {
  const parameters = found.parameter_texts.map((text) => `, ${lowered(text)}`).join('');
  const [first, ...later] = found.schedulers;
  const charge = inCharge([{ ...first, title: `${first.title}${parameters}` }, ...later]);
  fill(
    box,
    `${found.cluster_name} (${plural(found.server_count, 'server')}), ${found.trace_name} ` +
      `(${plural(found.job_count, 'job')}), ${charge}, seed ${found.seed}`,
    found.fork_ms === null
      ? null
      : [
          ' · continues ',
          found.parent ? h('a', { href: `/runs/${found.parent}/` }, `run ${found.parent}`) : 'a deleted run',
          ` from ${momentText(found.fork_ms)}`,
        ],
  );
}
