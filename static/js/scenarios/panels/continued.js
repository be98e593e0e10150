// Notes on the run that a scenario continues: it has ended by the time of the fork, or has later edits, unlike the
// fork.

import { get } from '../../core/api.js';
import { runTime } from '../../util/wall-clock.js';
import { setText } from '../../ui/dom.js';
import { PagePart } from '../../ui/failures/page-part.js';

const part = new PagePart('run that this scenario continues');

/** box: hidden without notes. */
export async function noteContinued(box, { parent, fork_ms: forkMs }) {
  const again = () => noteContinued(box, { parent, fork_ms: forkMs });
  const run = parent && (await part.load(get(`/api/runs/${parent}/`), again));
  if (!run) return;
  const later = run.edits_ms.filter((ms) => ms >= forkMs).length;
  const notes = [];
  if (run.status === 'finished' && run.sim_ms <= forkMs)
    notes.push(
      `Run ${parent} ended at ${runTime(run.sim_ms, run.began_at)}. ` +
        'It has no events after the time from which this scenario continues it.',
    );
  if (later)
    notes.push(
      later === 1
        ? `Run ${parent} has a later edit, which is not part of this scenario.`
        : `Run ${parent} has ${later} later edits, which are not part of this scenario.`,
    );
  setText(box, notes.join(' '));
  box.hidden = !notes.length;
}
