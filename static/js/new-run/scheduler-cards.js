// Cards of schedulers by execution model. Those that are ticked together are one race, so they share a training model.

import { h } from '../ui/dom.js';
import { number, plural } from '../util/format.js';
import { MODEL_HEADS, headOf } from '../models/heads.js';
import { CardChoice } from './card-choice.js';
import { glyph } from './pictures.js';

/**
 * Note of a card on its scheduler: [text, class].
 *
 * @param {string} name
 * @param {any} fit of the check of the form (suitability.js), or null
 * @returns {[string, string]}
 */
export function verdict(name, fit) {
  const runnable = fit?.schedulers[name];
  if (runnable === undefined) return ['', ''];
  if (runnable === fit.jobs)
    return [fit.jobs === 1 ? 'The job passes the check' : `All ${plural(fit.jobs, 'job')} pass the check`, 'good'];
  const some = `${number(runnable, 0)} of ${plural(fit.jobs, 'job')} ${runnable === 1 ? 'passes' : 'pass'} the check`;
  const text = runnable ? some : 'No job passes the check';
  return [`${text}. ${fit.reasons?.[name] ?? ''}`.trim(), runnable ? '' : 'bad'];
}

/**
 * Time that earlier runs took: 'Earlier runs of about this size took 2 s to 5 s with OASiS (3 runs).'
 *
 * @param {{name: string, title: string}[]} chosen
 * @param {Record<string, {runs: number, least_s: number, most_s: number}>} earlier
 */
export function timeText(chosen, earlier) {
  const known = chosen.filter(({ name }) => earlier[name]);
  if (!known.length) return 'No earlier run of about this size gives an estimate of the time.';
  const seconds = (value) => `${number(value, value < 10 ? 1 : 0)} s`;
  const spans = known.map(({ name, title }) => {
    const { runs, least_s: least, most_s: most } = earlier[name];
    const span = seconds(least) === seconds(most) ? seconds(most) : `${seconds(least)} to ${seconds(most)}`;
    return `${span} with ${title} (${plural(runs, 'run')})`;
  });
  const none = chosen.length - known.length;
  const rest = none ? `; none with ${none === 1 ? 'the other one' : `the other ${number(none, 0)}`}` : '';
  return `Earlier runs of about this size took ${spans.join(', ')}${rest}.`;
}

export class SchedulerCards extends CardChoice {
  /** @param {any[]} schedulers of the API @param {() => void} onChange */
  constructor(schedulers, onChange) {
    const heads = Object.fromEntries(
      MODEL_HEADS.map((head) => [
        head.name,
        [glyph(head), h('strong', {}, head.title), h('span', { class: 'small' }, head.rule)],
      ]),
    );
    super({
      legend: 'Schedulers',
      name: 'scheduler',
      several: true,
      heads,
      onChange: () => {
        this.#keepOneRace();
        onChange();
      },
    });
    this.schedulers = schedulers;
    this.fit = null;
    const place = (scheduler) => MODEL_HEADS.indexOf(headOf(scheduler));
    const sorted = [...schedulers].sort((a, b) => place(a) - place(b) || a.title.localeCompare(b.title));
    this.set(
      sorted.map((scheduler) => ({
        value: scheduler.name,
        title: scheduler.title,
        lines: [h('span', { title: scheduler.summary }, scheduler.summary)],
        group: headOf(scheduler).name,
        disabled: Boolean(scheduler.unavailable),
      })),
    );
    for (const { name, unavailable } of schedulers)
      if (unavailable) this.note(name, [h('span', { class: 'bad' }, `Not available: ${unavailable}`)]);
  }

  /** The chosen schedulers, in the order of choice; the first has the parameters of the form. */
  get chosen() {
    return this.values.map((name) => this.schedulers.find((one) => one.name === name));
  }

  /** Shows on each card how many jobs it can run, and why it cannot race with the first chosen one. */
  check(fit) {
    this.fit = fit;
    if (this.values.some((name) => fit?.race?.[name])) {
      // they were chosen before the answer was there
      this.choose(this.values.filter((name) => !fit.race[name]));
      this.onChange();
    }
    for (const { name, unavailable } of this.schedulers) {
      if (unavailable) continue;
      const [text, kind] = verdict(name, fit);
      const alone = fit?.race?.[name] && this.value && this.value !== name;
      const against = this.schedulers.find((one) => one.name === this.value)?.title;
      this.note(name, [
        text ? h('span', { class: kind || 'muted' }, text) : null,
        alone
          ? h('span', { class: 'muted', title: fit.race[name] }, `${text ? '; cannot' : 'Cannot'} race with ${against}`)
          : null,
      ]);
    }
  }

  /** A scheduler that cannot race with those before begins a new choice. */
  #keepOneRace() {
    const last = this.values.at(-1);
    const before = this.values.slice(0, -1);
    this.help.textContent = '';
    if (!before.length || !this.fit?.race?.[last]) return;
    const title = this.schedulers.find(({ name }) => name === last).title;
    this.choose([last]);
    const why = `${title} cannot race with the others: ${this.fit.race[last]}`;
    this.help.textContent = `${why}. Only this scheduler is selected now.`;
  }
}
