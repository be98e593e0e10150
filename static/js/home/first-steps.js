// The card of first steps on the overview: steps that are done are ticked, and each has a link to where it is done.

import { STEPS, progress, restart, skip, wanted } from '../core/first-steps.js';
import { setText } from '../ui/dom.js';
import { ACTIVE } from '../core/active-runs.js';

/** The run for the first steps: one with rejected jobs, else the newest; undefined without runs. */
export const runFor = (runs) => runs.find((run) => run.metrics?.rejected) ?? runs[0];

/** Links of the steps, by name; jobs are previewed on a run that is not over. */
export function links(runs) {
  const run = runFor(runs);
  const page = run && `/runs/${run.id}/`;
  const active = runs.find(({ status }) => ACTIVE.includes(status));
  return {
    rejected: page && `${page}?state=rejected#panel-jobs`,
    ask: active ? `/runs/${active.id}/#panel-ask` : '/scenarios/',
    fork: page,
    fail: page,
    compare: '/compare/',
    upload: '/traces/',
  };
}

export class FirstSteps {
  /** card: the element; opener: the button that shows it again. */
  constructor(card, opener) {
    this.card = card;
    this.opener = opener;
    this.runs = null; // not known yet: the card stays as the server has sent it
    card.querySelector('#skip-steps').addEventListener('click', () => {
      skip(true);
      this.paint();
    });
    opener.addEventListener('click', () => {
      if (progress().done.length === STEPS.length) restart();
      skip(false);
      this.paint();
      card.scrollIntoView({ block: 'nearest' });
    });
    addEventListener('pageshow', () => this.paint()); // back from a page on which a step was done
  }

  /** Shows the progress. runs: from which the links are made. */
  paint(runs = this.runs) {
    if (!runs) return;
    this.runs = runs;
    const shown = wanted();
    document.documentElement.dataset.firstSteps = shown ? 'on' : 'off';
    this.card.hidden = !runs.length;
    this.opener.hidden = shown || !runs.length;
    const { done } = progress();
    const to = links(runs);
    const next = STEPS.find((step) => !done.includes(step));
    for (const step of STEPS) {
      const item = this.card.querySelector(`[data-step=${step}]`);
      item.classList.toggle('done', done.includes(step));
      item.classList.toggle('next', step === next);
      setText(item.querySelector('.tick'), done.includes(step) ? '✓' : String(STEPS.indexOf(step) + 1));
      setText(item.querySelector('.said'), done.includes(step) ? ' (done)' : '');
      const link = item.querySelector('a');
      if (to[step]) link.href = to[step];
      else link.removeAttribute('href');
    }
    setText(this.card.querySelector('#steps-count'), `${done.length} of ${STEPS.length} done`);
  }
}
