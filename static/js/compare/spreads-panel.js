// Panel of the distributions of compared runs: one chart for each metric, one legend for all.

import { Spread, spreadTable } from '../charts/cdf.js';
import { $, fill, h } from '../ui/dom.js';
import { numbersButton } from '../ui/table-toggle.js';
import { Tip, tipElement } from '../ui/tooltip.js';

export class Spreads {
  constructor(names) {
    this.names = names;
    this.charts = null; // made from the first distributions
    this.distributions = [];
    fill($('#spread-legend'), names.map(this.#key, this));
    numbersButton('spread', () => spreadTable(this.distributions, names, this.charts?.[0]?.hidden));
  }

  paint(distributions) {
    this.distributions = distributions;
    this.charts ??= distributions.map((one) => this.#chart(one));
    fill(
      $('#spread-definitions'),
      distributions.map(({ title, definition }) => h('span', {}, `${title}: ${definition}`)),
    );
    this.#draw();
  }

  #chart(distribution) {
    const plot = h('div', { class: 'plot spread' });
    $('#spreads').append(plot);
    return new Spread(plot, new Tip(tipElement()), distribution, this.names);
  }

  #draw() {
    this.charts.forEach((chart, i) => chart.paint(this.distributions[i].curves));
  }

  #key(name, i) {
    const toggle = (event) => {
      for (const { hidden } of this.charts) if (!hidden.delete(i)) hidden.add(i);
      event.currentTarget.setAttribute('aria-pressed', String(!this.charts[0].hidden.has(i)));
      this.#draw();
    };
    return h(
      'button',
      { type: 'button', class: 'key', 'aria-pressed': 'true', title: 'Show or hide this run', onclick: toggle },
      h('i', { class: `dash dash-${i} job-line-${i}` }),
      h('span', {}, name),
    );
  }
}
