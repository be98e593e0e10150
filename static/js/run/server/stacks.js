// The charts of a server's resources, each stacked by job over time: a card each, which fails alone.

import { Stack } from '../../charts/resource-stack.js';
import { stepsAt } from '../../util/capacity.js';
import { capital, clock, number } from '../../util/format.js';
import { $, h, setText } from '../../ui/dom.js';
import { inPanel } from '../../ui/failures/panel-isolation.js';
import { pictureButton } from '../../ui/pictures/png-button.js';
import { numbersButton } from '../../ui/table-toggle.js';
import { Tip, tipElement } from '../../ui/tooltip.js';

export class Stacks {
  /**
   * box: the cards are added to it; measures: of the execution models (models/index.js, `stacks`); name: of the files
   * of their pictures; outagesThen(p): outages of the server as known then; chart: options of every chart
   * (charts/resource-stack.js).
   */
  constructor(box, measures, { name, capacityThen, ...chart }) {
    this.parts = measures.map((measure) => {
      const { element, canvas, tip } = card(measure);
      box.append(element);
      const capacity = measure.capacity && ((p) => capacityThen(measure, p));
      const make = () => new Stack(canvas, { ...measure, ...chart, capacity, tip: new Tip(tip) });
      const made = inPanel(canvas, make)();
      if (made) {
        numbersButton(canvas.id, () => made.table());
        pictureButton(canvas.id, `${name}-${measure.key}`);
      }
      const paint = inPanel(canvas, (p, zero) => paintCapacity(measure, p, zero));
      return { made, paint };
    });
  }

  /** New data have arrived. */
  update() {
    for (const { made } of this.parts) made?.update();
  }

  /** Shows the capacities as known at p; zero: when there is none (zeroText). */
  paint(p, zero) {
    for (const { paint } of this.parts) paint(p, zero);
  }
}

/** The card of a resource: {element, canvas, tip}. */
function card({ key, title, capacity }) {
  const id = `stack-${key}`;
  const label = `${capital(title)} over time by job; the Table button shows the same numbers`;
  const canvas = h('canvas', { id, tabindex: 0, role: 'img', 'aria-label': label });
  const tip = tipElement();
  const element = h(
    'section',
    { class: 'card flush' },
    h(
      'header',
      {},
      h('h2', {}, capital(title)),
      h('span', { class: 'muted small', id: `${id}-capacity` }, capacity === null ? 'one layer per job' : ''),
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', class: 'quiet', id: `${id}-table`, 'aria-pressed': 'false' }, 'Table'),
      ),
    ),
    h('div', { class: 'plot stacked' }, canvas, tip),
    h('div', { class: 'numbers', id: `${id}-numbers`, hidden: true }),
  );
  return { element, canvas, tip };
}

/** Paints the text on the capacity as known at p. */
function paintCapacity({ key, unit, capacity }, p, zero) {
  if (capacity === null) return;
  const text = capacityText(stepsAt(capacity, p), unit);
  setText($(`#stack-${key}-capacity`), `by job; dashed line: capacity, ${text}${zero}`);
}

/** '4 GPU until 08:00:00, then 1 GPU' */
function capacityText(capacity, unit) {
  // without the steps that edits of other resources make
  const steps = capacity.filter(([, amount], i) => amount !== capacity[i + 1]?.[1]);
  const parts = steps.map(([until, amount]) => {
    const text = `${number(amount, 2)} ${amount === 1 ? unit.replace(/(?<=[a-z])s$/, '') : unit}`; // 1 worker
    return until === Infinity ? text : `${text} until ${clock(until)}`;
  });
  return parts.join(', then ');
}
