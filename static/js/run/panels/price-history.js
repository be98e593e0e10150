// Prices of the sites at the time shown: the stream has only the newest, the server has
// the others.

import { get } from '../../core/api.js';
import { hasPrices, priceSource } from '../../core/slot-prices.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { Later } from '../../util/throttle.js';

const REST_MS = 300;
const NONE = priceSource({});

export class PastPrices {
  /** transport: gives the time; store: has the newest prices; onChange() is called when other prices are shown. */
  constructor(runId, transport, store, onChange) {
    this.runId = runId;
    this.transport = transport;
    this.store = store;
    this.onChange = onChange;
    this.past = null;
    this.part = new PagePart('prices at the time shown');
    this.later = new Later(REST_MS, () => this.#load());
    for (const name of ['move', 'state']) transport.playhead.addEventListener(name, () => this.#moved());
  }

  /** Source of the prices (core/slot-prices.js) at the time shown. */
  get source() {
    return this.past ?? this.store;
  }

  #moved() {
    if (this.transport.then === null) this.part.forget();
    if (!hasPrices(this.store)) return;
    if (this.transport.then === null) {
      if (this.past) {
        this.past = null;
        this.onChange();
      }
    } else this.later.ask();
  }

  async #load() {
    const then = this.transport.then;
    if (then === null) return;
    const answer = await this.part.load(get(`/api/runs/${this.runId}/prices/?at_ms=${then}`), () => this.later.ask());
    if (this.transport.then === null) return this.part.forget();
    this.past = answer ? priceSource(answer) : NONE; // not those of another time
    this.onChange();
  }
}
