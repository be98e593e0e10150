// One plan: its changes with their commands, the jobs that it leaves as they are, and what an operator can do with it.

import { post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { confirmed } from '../ui/confirm.js';
import { copyText } from '../ui/labels/copy-text.js';
import { stateMark } from '../ui/labels/state-mark.js';
import { table } from '../ui/data-table.js';
import { fill, h, wholeDates } from '../ui/dom.js';
import { lowered, number, plural, sentence, wall } from '../util/format.js';
import { utcTime } from '../util/wall-clock.js';

const PLAN_TYPES = { order: 'Order', placement: 'Placement' };
const NOTHING = 'none';

export class PlanCard {
  /** onChange(): after an action. */
  constructor(id, { operator, approver, onChange }) {
    this.id = id;
    this.operator = operator;
    this.approver = approver;
    this.onChange = onChange;
    this.painted = '';
    this.problem = h('p', { class: 'error', role: 'alert', hidden: true });
    this.element = h('section', { class: 'card', 'aria-label': `Plan ${id}` });
  }

  /** plan: as received from the server; an unchanged one keeps its elements, and the focus in them. */
  paint(plan) {
    const text = JSON.stringify(plan);
    if (text === this.painted) return;
    this.painted = text;
    const open = this.element.querySelector('details')?.open ?? false;
    const parts = [this.#head(plan), this.#facts(plan), this.#changes(plan), this.#leftOut(plan, open)];
    fill(this.element, parts, this.problem);
  }

  #head(plan) {
    const by = [plan.title, ...plan.parameter_texts.map(lowered)].join(', ');
    const title = `Plan ${plan.id}: ${PLAN_TYPES[plan.kind].toLowerCase()} by ${by}`;
    return h(
      'header',
      {},
      h('h2', {}, title),
      stateMark(plan.status),
      this.operator ? h('div', { class: 'actions' }, this.#buttons(plan)) : null,
    );
  }

  #buttons({ status, digest, refused, undo_wanted: wanted, rows }) {
    const act = (verb, body) => () => this.#act(verb, body);
    const button = (text, onclick, more = {}) => h('button', { type: 'button', onclick, ...more }, text);
    const copied =
      (field) =>
      ({ currentTarget }) =>
        copyText(rows.map((row) => row[field]).join('\n'), currentTarget);
    return [
      rows.length ? button('Copy commands', copied('command')) : null,
      rows.length ? button('Copy undo commands', copied('inverse')) : null,
      status === 'proposed'
        ? button('Approve', () => this.#approve(digest, rows), {
            class: 'primary',
            disabled: Boolean(refused) || !this.approver,
            title: sentence(refused) || (this.approver ? null : 'Approving requires the approver role.'),
          })
        : null,
      ['computing', 'proposed'].includes(status) ? button('Discard', act('discard')) : null,
      ['approved', 'applying', 'applied'].includes(status)
        ? button(wanted ? 'Undoing …' : 'Undo', act('undo'), { class: 'danger', disabled: wanted })
        : null,
    ];
  }

  #facts(plan) {
    const made = `Made ${wall(plan.made_at)}${plan.made_by ? ` by ${plan.made_by}` : ''}`;
    const approved = plan.approved_at
      ? `; approved ${wall(plan.approved_at)}${plan.approved_by ? ` by ${plan.approved_by}` : ''}`
      : '';
    return [
      h(
        'p',
        { class: 'muted' },
        wholeDates(`${made}${approved}. `),
        plan.run
          ? h('a', { href: `/runs/${plan.run}/` }, `Based on run ${plan.run}`)
          : 'The run of this plan was deleted.',
      ),
      plan.status === 'computing' ? h('p', {}, 'The plan is made when its run has ended …') : null,
      plan.message ? h('p', {}, plan.message) : null,
      plan.refused ? h('p', { class: 'muted' }, `The plan cannot be approved now: ${plan.refused}.`) : null,
    ];
  }

  #changes({ rows, waiting }) {
    if (!rows.length) return null;
    const columns = [
      { title: 'Job', cell: (row) => row.key },
      { title: 'User', cell: (row) => row.user },
      { title: 'Queue', cell: (row) => row.queue },
      { title: 'Priority', number: true, cell: (row) => number(row.priority, 0) },
      { title: 'Change', cell: changeText },
      { title: 'Simulated start', cell: (row) => moment(row.start_ms) },
      { title: "Cluster's estimate", cell: (row) => moment(row.estimate_ms ?? null) },
      { title: 'Command', wide: true, cell: (row) => h('code', {}, row.command) },
      {
        title: 'State',
        cell: (row) => [row.state || 'not sent', row.message ? h('div', { class: 'muted small' }, row.message) : null],
      },
    ];
    const jobs = new Set(rows.map((row) => row.key)).size;
    return [
      h(
        'p',
        { class: 'muted small' },
        `${plural(jobs, 'job')} of ${plural(waiting, 'waiting job')} changed. The cluster's estimate is the start ` +
          'that it expected without the plan, by time limits.',
      ),
      h('div', { class: 'scroll' }, table(columns, rows)),
    ];
  }

  #leftOut({ left_out: pairs, left_out_count: count }, open) {
    if (!count) return null;
    const columns = [
      { title: 'Job', cell: (pair) => pair[0] },
      { title: 'Reason', wide: true, cell: (pair) => pair[1] },
    ];
    const more = count > pairs.length ? `, the first ${number(pairs.length, 0)}` : '';
    return h(
      'details',
      { open },
      h('summary', {}, `${plural(count, 'job')} not changed${more}`),
      h('div', { class: 'scroll' }, table(columns, pairs)),
    );
  }

  async #approve(digest, rows) {
    const changes = plural(rows.length, 'change');
    const question = `Approve plan ${this.id}? The acting process then makes ${changes} on the cluster.`;
    if (await confirmed(question, 'Approve', 'primary')) await this.#act('approve', { digest });
  }

  async #act(verb, body = {}) {
    this.problem.hidden = true;
    try {
      await post(`/api/proposals/${this.id}/${verb}/`, body);
      this.onChange();
    } catch (error) {
      logError(error);
      this.problem.textContent = error.message;
      this.problem.hidden = false;
    }
  }
}

/** 'nice 0 → −100', 'does not start before 14:20:00 UTC', 'required nodes: none → edge1'. */
export function changeText({ field, before, after }) {
  if (field === 'nice') return `nice ${number(before, 0)} → ${number(after, 0)}`;
  if (field === 'not_before_ms') return `does not start before ${moment(after)}`;
  return `required nodes: ${before || NOTHING} → ${after || NOTHING}`;
}

const moment = (ms) => (ms === null ? '–' : utcTime(ms));
