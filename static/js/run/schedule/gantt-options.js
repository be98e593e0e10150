// Options of the schedule: rows by server, site, job, user or queue; colours of bars; highlighted jobs.

import { modelsOf, stateWord } from '../../models/index.js';
import { get } from '../../core/api.js';
import { colors, onTheme } from '../../util/colors.js';
import { $, debounce, fill, h, setText } from '../../ui/dom.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { number, plural } from '../../util/format.js';
import { Later } from '../../util/throttle.js';
import { url } from '../../ui/address/query.js';
import { byAge, byJob, byName, byPayoff, byState } from '../../gantt/bar-colors.js';

const REST_MS = 2000;
const GROUPS = 'These rows show groups of jobs; the rows of jobs have colours.';
const SHADED = 'All rows in view are shaded; single bars have colours.';

export class ScheduleOptions {
  constructor(gantt, { runId, store, info, playhead }) {
    this.gantt = gantt;
    this.runId = runId;
    this.store = store;
    this.info = info;
    this.playhead = playhead;
    this.payoffs = new Map();
    this.payoffSeq = 0;
    this.part = new PagePart('payoffs of the jobs');
    this.orders = {
      servers: 'Servers',
      sites: 'Sites',
      jobs: 'Jobs',
      ...(info.users && { users: 'Users' }),
      ...(info.groups && { groups: 'Queues' }),
    };
    this.paints = {
      job: { text: 'job', way: byJob },
      model: { text: 'model', way: () => byName(info.models, 'model') },
      state: { text: 'state', way: () => byState(store, playhead, (state) => stateWord(info, state)) },
      ...(info.worth && { payoff: { text: 'payoff', way: () => byPayoff(store, this.payoffs) } }),
      age: { text: 'age', way: () => byAge(store, playhead) },
      ...(info.users && { user: { text: 'user', way: () => byName(named(info.users), 'user') } }),
      ...(info.groups && { group: { text: 'queue', way: () => byName(named(info.groups), 'queue') } }),
    };
    this.later = new Later(REST_MS, () => this.#loadPayoffs());
    this.#rows();
    this.#colours();
    this.#search();
    onTheme(() => this.paintLegend());
  }

  /** The log has grown, or something else is drawn. */
  refresh() {
    this.#offerColours();
    if (this.colour === 'payoff') this.later.ask();
    this.paintLegend();
  }

  paintLegend() {
    const { keys, note } = this.ofJobs && !this.gantt.allShaded ? this.way.legend(colors()) : { keys: [], note: '' };
    const signature = JSON.stringify([keys, note]);
    if (signature === this.signature) return;
    this.signature = signature;
    fill(
      $('#gantt-legend'),
      keys.map(([color, name, count]) =>
        h(
          'span',
          { class: 'gantt-key' },
          h('i', { class: 'swatch', css: { background: color } }),
          name,
          count ? h('b', {}, ` ${count}`) : null,
        ),
      ),
      note ? h('span', {}, note) : null,
    );
    $('#gantt-legend').hidden = !keys.length && !note;
  }

  /** True if the rows show single jobs, which have colours, and not groups of jobs. */
  get ofJobs() {
    return modelsOf(this.info).some(({ ofJobs }) => ofJobs(this.gantt.rows.order));
  }

  #rows() {
    const buttons = Object.entries(this.orders).map(([order, text]) => [
      order,
      h('button', { type: 'button', 'data-rows': order }, text),
    ]);
    const choose = (order) => {
      for (const [name, button] of buttons) button.setAttribute('aria-pressed', String(name === order));
      if (this.gantt.rows.order !== order) this.gantt.setOrder(order);
      url.set({ rows: order === 'servers' ? '' : order });
      this.#offerColours();
      if (this.way) this.paintLegend();
    };
    for (const [order, button] of buttons) button.addEventListener('click', () => choose(order));
    fill(
      $('#gantt-rows'),
      buttons.map(([, button]) => button),
    );
    choose(url.choice('rows', Object.keys(this.orders), 'servers', 'Rows are servers.'));
  }

  /** Names the shade in place of the colours where no row shows single bars. */
  #offerColours() {
    const select = $('#gantt-colour');
    const shaded = this.ofJobs && this.gantt.allShaded;
    select.disabled = !this.ofJobs || shaded;
    select.title = shaded ? SHADED : this.ofJobs ? '' : GROUPS;
    if (this.colour) select.value = shaded ? '' : this.colour;
  }

  #colours() {
    const select = $('#gantt-colour');
    fill(
      select,
      h('option', { value: '', hidden: true }, 'colour by share'),
      Object.entries(this.paints).map(([value, { text }]) => h('option', { value }, `colour by ${text}`)),
    );
    const choose = (colour) => {
      this.colour = colour;
      this.#offerColours();
      this.way = this.paints[colour].way();
      this.gantt.setPaint(this.way.paint);
      url.set({ colour: colour === 'job' ? '' : colour });
      if (colour === 'payoff') this.later.ask();
      this.paintLegend();
    };
    select.addEventListener('change', () => choose(select.value));
    choose(url.choice('colour', Object.keys(this.paints), 'job', 'Each job has a colour.'));
  }

  async #loadPayoffs() {
    const answer = await this.part.load(get(`/api/runs/${this.runId}/payoffs/?after=${this.payoffSeq}`), () =>
      this.later.ask(),
    );
    if (!answer) return;
    for (const [job, payoff] of answer.rows) this.payoffs.set(job, payoff);
    this.payoffSeq = answer.last_seq;
    this.gantt.update();
    this.paintLegend();
  }

  /** Highlights jobs whose id, model, user or queue contains the text; Enter moves to the next one. */
  #search() {
    const field = $('#job-search');
    const { ids, models, users, groups } = this.info;
    const texts = ids.map((id, job) =>
      [id, models[job], users?.words[users.codes[job]] ?? '', groups?.words[groups.codes[job]] ?? '']
        .join('\n')
        .toLowerCase(),
    );
    let found = [];
    let at = -1;
    const search = () => {
      const text = field.value.trim().toLowerCase();
      found = text ? texts.flatMap((known, job) => (known.includes(text) ? [job] : [])) : [];
      at = -1;
      this.gantt.mark(text ? Uint8Array.from(texts, (known) => Number(known.includes(text))) : null);
      setText(
        $('#job-found'),
        text
          ? `${number(found.length, 0)} of ${plural(ids.length, 'job')} highlighted` +
              `${found.length ? '; press Enter for the next one' : ''}`
          : '',
      );
      url.set({ find: field.value.trim() });
    };
    field.addEventListener('input', debounce(search, 150));
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !found.length) return;
      at = (at + (event.shiftKey ? found.length - 1 : 1)) % found.length;
      this.gantt.reveal(found[at]);
      setText($('#job-found'), `${number(at + 1, 0)} of ${number(found.length, 0)}: ${ids[found[at]]}`);
    });
    field.value = url.get('find') ?? '';
    if (field.value) search();
  }
}

/** [job] its name, undefined where it has none. */
function named({ words, codes }) {
  return codes.map((code) => words[code]);
}
