// Picker of one server whose prices are shown for every slot, instead of the means of its site.

import { get } from '../../core/api.js';
import { h } from '../../ui/dom.js';

const FRESH_MS = 3000;
const REST_MS = 300; // after the playhead has moved

export class ServerPrices {
  /**
   * actions: container of the field; then(): the time shown, null for the newest; onChange() when other prices are to
   * be drawn.
   */
  constructor(actions, runId, info, then, onChange) {
    this.runId = runId;
    this.info = info;
    this.then = then;
    this.onChange = onChange;
    this.prices = null;
    this.index = -1;
    this.asked = 0;
    this.list = h('datalist', { id: 'price-servers' });
    this.input = h('input', {
      type: 'search',
      list: 'price-servers',
      placeholder: 'Server …',
      'aria-label': 'Server for prices',
      size: 12,
    });
    this.input.addEventListener(
      'focus',
      () =>
        this.list.children.length ||
        this.list.append(...info.cluster.servers.map(({ name }) => h('option', { value: name }))),
      { once: true },
    );
    this.input.addEventListener('change', () => this.choose(this.input.value.trim()));
    actions.prepend(this.input, this.list);
  }

  choose(name) {
    this.index = this.info.cluster.servers.findIndex((server) => server.name === name);
    this.input.setCustomValidity(name && this.index < 0 ? `Unknown server ${name}.` : '');
    this.input.reportValidity();
    this.prices = null;
    if (this.index < 0) return this.onChange();
    this.asked = -Infinity;
    this.refresh();
  }

  /** The playhead has moved. */
  moved() {
    if (this.index < 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.asked = -Infinity;
      this.refresh();
    }, REST_MS);
  }

  /** Requests the prices again, throttled, after the run has continued or another time is shown. */
  refresh() {
    if (this.index < 0 || performance.now() - this.asked < FRESH_MS) return;
    this.asked = performance.now();
    const wanted = this.index;
    const then = this.then();
    get(`/api/runs/${this.runId}/prices/${wanted}/${then === null ? '' : `?at_ms=${then}`}`)
      .then((prices) => {
        if (this.index !== wanted) return;
        this.prices = prices;
        this.input.setCustomValidity('');
        this.onChange();
      })
      .catch((error) => {
        if (this.index !== wanted) return;
        this.prices = null; // not those of another time
        this.onChange();
        this.input.setCustomValidity(error.message);
        this.input.reportValidity();
      });
  }
}
