// The drawer: one job's whole story, first of all why it was decided as it was.

import { get } from '../lib/api.js';
import { JOB_COLORS } from '../lib/colors.js';
import { fill, h } from '../lib/dom.js';
import { fieldText } from '../lib/fields.js';
import { clock, duration, fixed, number, significant } from '../lib/format.js';
import { shown, table } from '../lib/list.js';
import { roleName } from '../charts/gantt.js';
import { membership } from './membership.js';
import { terms } from './terms.js';
import { utilityCurve } from './utility-curve.js';

const BARS = 60;
const PATIENCE_S = 20; // of a longer search for what would have flipped a decision

export class Drawer {
  /** info: the run's static description; onShow(ms) moves the playhead; onPick(job) opens another job; onClose(); then(): the moment shown, null for the newest. */
  constructor(element, runId, info, { onShow, onPick, onClose, then = () => null }) {
    Object.assign(this, { element, runId, info, onShow, onPick, onClose, then });
    this.job = null;
    addEventListener('keydown', (event) => event.key === 'Escape' && this.close());
  }

  async open(job) {
    const fresh = this.job !== job;
    this.job = job;
    this.element.hidden = false;
    if (fresh) {
      this.before = document.activeElement;
      fill(this.element, this.#head(this.info.ids[job] ?? `job ${job}`, ''), h('p', { class: 'muted' }, 'Loading …'));
    }
    try {
      const then = this.then();
      const story = await get(`/api/runs/${this.runId}/jobs/${job}/${then === null ? '' : `?at_ms=${then}`}`);
      if (this.job === job && this.then() === then) this.#paint(story);
    } catch (error) {
      fill(this.element, this.#head(`job ${job}`, ''), h('p', { class: 'error', role: 'alert' }, error.message));
    }
    if (fresh) this.element.querySelector('button')?.focus({ preventScroll: true });
  }

  close() {
    if (this.job === null) return;
    this.job = null;
    this.element.hidden = true;
    this.before?.focus?.({ preventScroll: true });
    this.onClose();
  }

  #head(title, state) {
    const swatch = this.job === null ? null : h('i', { class: `swatch job-${this.job % JOB_COLORS}` });
    return h('header', {}, h('h1', {}, swatch, title), state ? h('span', { class: 'state', 'data-state': state }, state) : null,
      h('button', { type: 'button', class: 'quiet', onclick: () => this.close(), title: 'Close (Esc)' }, 'Close'));
  }

  #paint(story) {
    const decisions = [...(story.decisions ?? [])];
    const first = decisions[0];
    const worth = decisions.map((d) => d.values).find((values) => values && 'payoff' in values);
    const price = worth && first.kind !== 'rejected' ? worth.cost : null;
    const finish = story.completed_ms ?? story.finish_ms ?? null;
    fill(this.element, this.#head(story.id, story.state),
      story.at_ms === null || story.at_ms === undefined ? null : h('p', { class: 'notice' }, `As it was known at ${clock(story.at_ms)}.`),
      first ? null : h('p', { class: 'muted' }, story.state === 'not arrived' ? 'This job has not arrived yet.' : 'Not decided yet: it waits in the queue.'),
      decisions.map((decision) => this.#reason(decision)),
      worth ? this.#worth(worth, price !== null) : null,
      story.worth ? utilityCurve(story.worth, { finishMs: finish, done: typeof story.completed_ms === 'number', price }) : null,
      worth ? this.#flips(first.seq) : null,
      this.#times(story), story.stretches ? membership(story.stretches) : this.#bars(story), this.#fields(story));
  }

  #reason(decision) {
    const { kind, code, sentence, at_ms: at } = decision;
    const text = sentence ?? code.replaceAll('_', ' ');
    const [, lead, rest] = /^([^:.]{1,24}:)(.*)$/s.exec(text) ?? [null, `${kind[0].toUpperCase()}${kind.slice(1)}.`, ` ${text}`];
    return h('div', { class: 'reason', 'data-kind': kind }, h('strong', {}, lead), rest, terms(decision, this.info.ids, this.onPick),
      h('time', {}, `decided at ${clock(at)} `, h('button', { type: 'button', class: 'quiet', onclick: () => this.onShow(at) }, 'Show this moment')));
  }

  #worth({ utility, cost, payoff, cost_by_resource: parts, cells }, paid) {
    const { names, units } = this.info;
    const box = (title, value, negative) => h('div', { class: negative ? 'negative' : null }, h('span', {}, title), h('b', {}, fixed(value)));
    const total = (parts ?? []).reduce((sum, part) => sum + part, 0);
    const dearest = Math.max(...(parts ?? [0]));
    return [
      h('div', { class: 'sum' }, box('Utility', utility), box(paid ? 'Price paid' : 'Cost at the prices', cost), box('Payoff = utility − cost', payoff, payoff <= 0)),
      total > 0 ? h('section', {}, h('h2', {}, 'Cost by resource'), table([
        { title: 'Resource', cell: ([r]) => names[r] }, { title: 'Cost', number: true, cell: ([, part]) => fixed(part) },
        { title: 'Share', number: true, cell: ([, part]) => `${((part / total) * 100).toFixed(1)} %` },
        { title: '', cell: ([, part]) => h('span', { class: 'meter' }, h('i', { css: { width: `${dearest ? (part / dearest) * 100 : 0}%` } })) },
      ], parts.map((part, r) => [r, part]).filter(([, part]) => part > 0))) : null,
      cells?.length ? h('section', {}, h('h2', {}, 'Dearest cells'), h('p', { class: 'muted small' }, 'Server, resource and slot where most of the cost lies.'), h('div', { class: 'scroll' }, table([
        { title: 'Server', cell: ([server]) => this.#server(server) }, { title: 'Resource', cell: ([, r]) => names[r] },
        { title: 'Slot', number: true, cell: ([, , slot]) => number(slot, 0) },
        { title: 'From', number: true, cell: ([, , slot]) => clock(slot * this.info.cluster.slot_ms) },
        { title: 'Price', number: true, cell: ([, r, , price]) => `${significant(price)} / ${units[r]}` }, { title: 'Cost', number: true, cell: ([, , , , cost]) => fixed(cost) },
      ], cells))) : null,
    ];
  }

  /** What would have flipped the decision; computed by the server once a decision, on the state as it was. */
  #flips(seq) {
    const list = h('ul', { class: 'plain' });
    const more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => this.#ask(seq, list, more, PATIENCE_S) }, 'Search longer');
    this.#ask(seq, list, more);
    return h('section', {}, h('h2', {}, 'What would have flipped it'), h('p', { class: 'muted small' }, 'Each alone, with everything else as it was when the job was decided.'), list, more);
  }

  /** seconds: how long the server may search; a fraction of one unless told. */
  #ask(seq, list, more, seconds) {
    fill(list, h('li', { class: 'muted' }, 'Asking the scheduler …'));
    more.hidden = true;
    this.asked ??= new Map();
    if (seconds || !this.asked.has(seq)) {
      this.asked.set(seq, get(`/api/runs/${this.runId}/jobs/${this.job}/counterfactuals/${seconds ? `?seconds=${seconds}` : ''}`));
    }
    this.asked.get(seq).then(({ rows }) => {
      fill(list, rows.length ? rows.map((row) => h('li', {}, row.sentence)) : h('li', {}, 'No number of its own would have made it possible.'));
      more.hidden = seconds !== undefined || rows.every((row) => row.searched);
    }).catch((error) => {
      this.asked.delete(seq);
      fill(list, h('li', { class: 'muted' }, error.message));
    });
  }

  #times(story) {
    const facts = [['Arrived', clock(story.arrived_ms)], ['Decided', clock(story.decided_ms)], ['Start', clock(story.start_ms)], ['Planned finish', clock(story.finish_ms)],
      ['Completed', clock(story.completed_ms)], ['Completion time (JCT)', duration(story.jct_ms)], ['Utility earned', story.completed_ms === null ? '–' : number(story.utility)], ['Model', story.model ?? '–']];
    return h('dl', { class: 'facts' }, facts.map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
  }

  #bars(story) {
    const at = Object.fromEntries((story.bar_fields ?? []).map((name, i) => [name, i]));
    const bars = (story.bars ?? []).filter((bar) => bar[at.died_ms] < 0).sort((a, b) => a[at.start_ms] - b[at.start_ms]);
    if (!bars.length) return h('section', {}, h('h2', {}, 'Bars'), h('p', { class: 'muted' }, 'None: nothing is planned for this job.'));
    return h('section', {}, h('h2', {}, 'Bars'), h('p', { class: 'muted small' }, shown(Math.min(BARS, bars.length), bars.length, 'bars')), h('div', { class: 'scroll' }, table([
      { title: 'Role', cell: (bar) => roleName(bar[at.role]) }, { title: 'Server', cell: (bar) => this.#server(bar[at.server]) },
      { title: 'Count', number: true, cell: (bar) => number(bar[at.count], 0) }, { title: 'Start', number: true, cell: (bar) => clock(bar[at.start_ms]) },
      { title: 'End', number: true, cell: (bar) => clock(bar[at.end_ms]) },
    ], bars.slice(0, BARS))));
  }

  #server(index) {
    const server = this.info.cluster.servers[index];
    return server ? h('a', { href: `/runs/${this.runId}/servers/${index}/` }, server.name) : 'cloud';
  }

  #fields(story) {
    const fields = (story.fields ?? []).filter((field) => field.value !== null);
    const from = ['trace', 'derived', 'drawn'].map((origin) => [origin, fields.filter((field) => field.provenance === origin).length]).filter(([, count]) => count);
    const says = { trace: 'stand in the trace', derived: 'follow from it', drawn: 'are drawn from the ranges of the papers' };
    return h('section', {}, h('h2', {}, 'Fields and where they come from'), from.length ? h('p', { class: 'muted small' }, `${from.map(([origin, count]) => `${count} ${says[origin]}`).join(', ')}.`) : null, table([
      { title: 'Field', cell: (field) => field.name.replaceAll('_', ' ').replace(/ ms$/, '') },
      { title: 'Value', cell: (field) => fieldText(field.name, field.value) },
      { title: 'Origin', cell: (field) => (field.provenance ? h('span', { class: 'mark', 'data-origin': field.provenance }, field.provenance) : '') },
    ], fields));
  }
}
