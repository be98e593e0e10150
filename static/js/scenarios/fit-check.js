// Fit check of the form of a new run: how many jobs can run, and which values are not the trace's own.

import { fill, h } from '../ui/dom.js';
import { fieldTitle, originText } from '../util/job-fields.js';
import { number, plural } from '../util/format.js';

/** 'Training epochs, Chunks (80 jobs); Utility (3 jobs)': fields with equal counts together. */
function fieldsText(counts) {
  const by = new Map();
  for (const [name, jobs] of Object.entries(counts)) by.set(jobs, [...(by.get(jobs) ?? []), fieldTitle(name)]);
  return [...by].map(([jobs, titles]) => `${titles.join(', ')} (${plural(jobs, 'job')})`).join('; ');
}

const CHECKED =
  'Checked: the fields that the scheduler needs, the number of upload times if it uses them, and the room for one ' +
  'worker and one parameter server of a job. Whether all workers of a job fit at once is decided when it arrives.';

export class FitCheck {
  constructor() {
    this.box = h('div', { class: 'fit wide', id: 'f-fit', role: 'status', hidden: true });
  }

  /** Shows the answer of the check; nothing without one. */
  show(fit, chosen) {
    this.box.hidden = !fit;
    if (!fit) return;
    const all = fit.runnable === fit.jobs;
    fill(
      this.box,
      h(
        'p',
        { class: all ? 'good' : 'bad' },
        all
          ? `${chosen.title}: ${fit.jobs === 1 ? 'the job passes' : `all ${plural(fit.jobs, 'job')} pass`} the check.`
          : `${chosen.title}: ${number(fit.runnable, 0)} of ${plural(fit.jobs, 'job')} ` +
              `${fit.runnable === 1 ? 'passes' : 'pass'} the check.`,
      ),
      h('p', { class: 'muted small' }, CHECKED),
      Object.entries(fit.made)
        .filter(([, counts]) => Object.keys(counts).length)
        .map(([origin, counts]) =>
          h('p', { class: 'muted small' }, `Not in the trace, ${originText(origin)}: ${fieldsText(counts)}.`),
        ),
    );
  }
}
