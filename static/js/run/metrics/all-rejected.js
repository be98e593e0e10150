// Note of a run of which every decided job was rejected: the most frequent reason with its number of jobs.

import { get } from '../../core/api.js';
import { setText } from '../../ui/dom.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { plural } from '../../util/format.js';

/**
 * {decided, code, count} of a run whose decided jobs are all rejected; null otherwise.
 *
 * @param {([string, string, string] | null)[]} verdicts [first kind, latest kind, latest code] of each job
 */
function allRejected(verdicts) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  let decided = 0;
  for (const verdict of verdicts) {
    if (!verdict) continue;
    const [, kind, code] = verdict;
    if (kind !== 'rejected') return null;
    decided++;
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  if (!decided) return null;
  const [code, count] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most));
  return { decided, code, count };
}

/**
 * 'All 3 jobs with a decision were rejected. Most frequent reason (2 jobs), here of job j7: the job has no …'
 *
 * @param {{decided: number, count: number}} found
 * @param {{id: string, text: string} | undefined} example newest decision with that reason
 */
function rejectionText({ decided, count }, example) {
  const jobs =
    decided === 1 ? 'The only job with a decision was' : `All ${plural(decided, 'job')} with a decision were`;
  if (!example) return `${jobs} rejected.`;
  const why = example.text.replace(/^(rejected: )?(Rejected: )?/, '');
  return `${jobs} rejected. Most frequent reason (${plural(count, 'job')}), here of job ${example.id}: ${why}`;
}

export class RejectionNote {
  /**
   * @param {HTMLElement} box
   * @param {number} runId
   */
  constructor(box, runId) {
    this.box = box;
    this.runId = runId;
    this.shown = '';
    this.part = new PagePart('reason for the rejections');
  }

  /** Shows or hides the note; the sentence of the reason is read once for each change. */
  async paint(verdicts) {
    const found = allRejected(verdicts);
    const key = found ? JSON.stringify(found) : '';
    if (key === this.shown) return;
    this.shown = key;
    this.box.hidden = !found;
    if (!found) return;
    const query = new URLSearchParams({ kind: 'decided', decision: 'rejected', code: found.code, size: '1' });
    const again = () => !this.shown && this.paint(verdicts);
    const answer = await this.part.load(get(`/api/runs/${this.runId}/events/table/?${query}`), again);
    if (key === this.shown) setText(this.box, rejectionText(found, answer?.rows[0]));
    if (!answer) this.shown = ''; // requested again
  }
}
