// Fit check of the form of a new run: how many jobs can run, which values are not the trace's own, and which schedulers
// can run all jobs.

import { fill, h } from '../ui/dom.js';
import { fieldTitle, originText } from '../util/job-fields.js';
import { number, plural } from '../util/format.js';

/**
 * @param {{ jobs: number, runnable: number, made: Record<string, Record<string, number>>,
 *   schedulers: Record<string, number> }} fit
 * @param {{ name: string, title: string }[]} schedulers
 * @returns {{ able: any[], some: any[], none: any[] }} the schedulers that can run all jobs, some, or none
 */
export function sorted({ jobs, schedulers: runnable }, schedulers) {
  const by = { able: [], some: [], none: [] };
  for (const one of schedulers) {
    const count = runnable[one.name];
    if (count !== undefined) by[count === jobs ? 'able' : count ? 'some' : 'none'].push({ ...one, runnable: count });
  }
  return by;
}

/** 'Epochs, Chunks (80 jobs); Utility (3 jobs)': fields with equal counts together. */
export function fieldsText(counts) {
  const by = new Map();
  for (const [name, jobs] of Object.entries(counts)) by.set(jobs, [...(by.get(jobs) ?? []), fieldTitle(name)]);
  return [...by].map(([jobs, titles]) => `${titles.join(', ')} (${plural(jobs, 'job')})`).join('; ');
}

/** The box; onPick(name): a scheduler is chosen. */
export class FitCheck {
  constructor(onPick) {
    this.onPick = onPick;
    this.box = h('div', { class: 'fit wide', id: 'f-fit', role: 'status', hidden: true });
  }

  /** Shows the answer of the check; nothing without one. */
  show(fit, chosen, schedulers) {
    this.box.hidden = !fit;
    if (!fit) return;
    const { able, some, none } = sorted(fit, schedulers);
    const all = fit.runnable === fit.jobs;
    fill(
      this.box,
      h(
        'p',
        { class: all ? 'good' : 'bad' },
        all
          ? `All ${plural(fit.jobs, 'job')} can run with ${chosen.title}.`
          : `${number(fit.runnable, 0)} of ${plural(fit.jobs, 'job')} can run with ${chosen.title}.`,
      ),
      Object.entries(fit.made)
        .filter(([, counts]) => Object.keys(counts).length)
        .map(([origin, counts]) =>
          h('p', { class: 'muted small' }, `Not in the trace, ${originText(origin)}: ${fieldsText(counts)}.`),
        ),
      able.length
        ? h(
            'p',
            { class: 'chips' },
            h('span', { class: 'small' }, 'Can run all jobs with default parameters:'),
            able.map(({ name, title }) =>
              h(
                'button',
                {
                  type: 'button',
                  class: 'chip',
                  'aria-pressed': String(name === chosen.name),
                  onclick: () => this.onPick(name),
                },
                title,
              ),
            ),
          )
        : h('p', {}, 'No scheduler can run all jobs on this cluster with default parameters.'),
      some.length || none.length
        ? h(
            'p',
            { class: 'muted small' },
            [
              ...some.map(({ title, runnable }) => `${title}: ${number(runnable, 0)} of ${plural(fit.jobs, 'job')}`),
              none.length ? `No job: ${none.map(({ title }) => title).join(', ')}` : '',
            ]
              .filter(Boolean)
              .join('. '),
            '.',
          )
        : null,
    );
  }
}
