// The prices of one server over time, as planned at the time shown. The panel is hidden as long as no scheduler of the
// run has had prices, and fails alone.

import { Curves } from '../../charts/parts/line-panel.js';
import { PRICE_MEASURE, priceText, serverCurves, serverPrices } from '../../charts/prices.js';
import { get } from '../../core/api.js';
import { clock, significant } from '../../util/format.js';
import { repeatAfter } from '../../util/poll.js';
import { Later } from '../../util/throttle.js';
import { $, setText } from '../../ui/dom.js';
import { inPanel } from '../../ui/failures/panel-isolation.js';
import { pictureButton } from '../../ui/pictures/png-button.js';
import { numbersButton } from '../../ui/table-toggle.js';

const PRICES_MS = 1500; // between two requests
const Y = { type: 'linear', min: 0, border: { display: false } };
const TICKS = { maxTicksLimit: 5, callback: (v) => significant(v) };

export class PricesOfServer {
  /** section: of the panel; outagesThen(p) -> the server's outages as known at p. */
  constructor(section, { runId, server, info, store, view, playhead, transport, outagesThen }) {
    this.section = section;
    this.runId = runId;
    this.server = server;
    this.info = info;
    this.store = store;
    this.transport = transport;
    this.outagesThen = outagesThen;
    this.priced = null; // the newest answer
    section.hidden = true;
    this.chart = inPanel(section, () => this.#chart(view, playhead))();
    const show = inPanel(section, (answer) => this.#show(answer));
    this.later = new Later(PRICES_MS, async () => show(await this.#load()));
  }

  /** Requests the prices, at most so often. */
  refresh() {
    this.later.ask();
  }

  /** New data have arrived. */
  update() {
    this.chart?.update();
  }

  #chart(view, playhead) {
    const { info } = this;
    const chart = new Curves($('#prices'), {
      view,
      playhead,
      legend: $('#prices-legend'),
      // without the name of the server, which is in the title of the page
      compute: () =>
        this.priced ? serverCurves(this.priced, info).map((one) => ({ ...one, name: info.names[one.group] })) : [],
      // none after the last slot, as on the page of the run
      exact: (t) => (this.priced ? serverPrices(this.priced, info, t) : {}),
      format: priceText,
      y: { ...Y, ticks: TICKS },
      measure: PRICE_MEASURE,
      planned: () => !(this.store.finished && playhead.following),
    });
    numbersButton('prices', () => chart.table((ms) => clock(ms)));
    pictureButton('prices', `run-${this.runId}-${info.cluster.servers[this.server].name}-prices`);
    return chart;
  }

  /** {then, at, answer or error}; without both where no scheduler has had prices by then. */
  async #load() {
    const { runId, server, transport, store } = this;
    const { then } = transport;
    const at = then ?? store.simMs;
    if (!this.#phases(at).some(({ quotes }) => quotes)) return { then, at };
    try {
      const path = `/api/runs/${runId}/prices/${server}/${then === null ? '' : `?at_ms=${then}`}`;
      return { then, at, answer: await get(path) };
    } catch (error) {
      repeatAfter(error, () => this.refresh());
      return { then, at, error };
    }
  }

  #show({ then, at, answer = null, error = null }) {
    this.priced = answer; // after an error not those of another time
    this.section.hidden = !answer && !error;
    if (this.section.hidden) return;
    setText($('#prices-note'), error ? error.message : this.#note(then, at));
    this.update();
  }

  #note(then, at) {
    return (
      `Prices in ${PRICE_MEASURE}, with the plan of ${then === null ? 'the latest time' : clock(then)}.` +
      (this.store.edits.some(([atMs]) => atMs <= at)
        ? ' Slots before an edit keep the prices that they had before it.'
        : '') +
      (this.outagesThen(at).length ? ' There are no prices in outages.' : '') +
      (this.#phases(at).some(({ quotes }) => !quotes)
        ? ' Slots in which a scheduler without prices decides have no prices.'
        : '')
    );
  }

  /** The phases that have begun by a time. */
  #phases(at) {
    return this.info.phases.filter(({ from_ms: from }) => from <= at);
  }
}
