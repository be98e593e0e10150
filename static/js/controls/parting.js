// The first divergence of two runs: the job, the moment, and both decisions in words.

import { fill, h } from '../lib/dom.js';
import { clock, number, plural } from '../lib/format.js';
import { runMark } from './figures.js';

/** parting: {at_ms, job, model, jobs, same_before, base, other}; onShow() shows the job and the moment in the schedules. */
export function paintParting(body, actions, answer, position, parting, onShow) {
  fill(actions);
  const [base, other] = [answer.runs[0], answer.runs[position]];
  if (!base.begun || !other.begun) return fill(body, h('p', { class: 'muted' }, `Run ${base.begun ? other.id : base.id} has not begun.`));
  if (parting.at_ms === null) {
    return fill(body, h('p', { class: 'muted' }, `None: up to ${answer.at_ms === null ? 'the end' : clock(answer.at_ms)} both runs decide the same about every job that they share.`));
  }
  fill(actions, h('button', { type: 'button', id: 'show-parting', onclick: onShow }, 'Show in the schedules'));
  const before = parting.same_before ? `${plural(parting.same_before, 'decision')} before ${parting.same_before === 1 ? 'is' : 'are'} the same in both.` : 'It is the very first decision.';
  const more = parting.jobs > 1 ? ` At that moment ${number(parting.jobs, 0)} jobs are decided otherwise; this is the one decided first.` : '';
  fill(body, h('p', {}, 'At ', h('strong', {}, clock(parting.at_ms)), ' the runs decide differently about job ', h('strong', {}, parting.job), ` (${parting.model}) for the first time. ${before}${more}`),
    h('div', { class: 'columns' }, side(base, 0, parting.base, parting.at_ms), side(other, position, parting.other, parting.at_ms)));
}

function side(run, position, decision, atMs) {
  const head = h('h3', {}, runMark(position), `${run.title} · run ${run.id}`);
  if (!decision) return h('div', {}, head, h('div', { class: 'reason' }, 'Nothing is decided about it, neither at that moment nor later: it waits.'));
  const { kind, sentence, plan } = decision;
  const [lead, rest] = told(kind, sentence);
  return h('div', {}, head,
    decision.then ? null : h('p', { class: 'muted small' }, `Nothing is decided about it at ${clock(atMs)}: it waits. This is what comes next.`),
    h('div', { class: 'reason', 'data-kind': kind }, h('strong', {}, lead), rest, plan ? h('span', { class: 'plan' }, planText(plan)) : null, h('time', {}, `decided at ${clock(decision.at_ms)}`)));
}

/** The verdict's word in front, once: 'Rejected:' or 'Started', and what follows. */
function told(kind, sentence) {
  if (sentence === null) return ['Planned', ' without a verdict of its own.'];
  const word = `${kind[0].toUpperCase()}${kind.slice(1)}`;
  const [, lead, rest] = /^([^:.]{1,24}:)(.*)$/s.exec(sentence) ?? (sentence.startsWith(word) ? [null, word, sentence.slice(word.length)] : [null, `${word}.`, ` ${sentence}`]);
  return [lead, rest];
}

function planText({ start_ms: start, finish_ms: finish, workers, servers, more }) {
  if (start === null) return 'Plan: nothing from now on.';
  const where = servers.join(', ') + (more ? ` and ${number(more, 0)} more` : '');
  return `Plan: from ${clock(start)} to ${finish === null ? 'an open end' : clock(finish)}, at most ${plural(workers, 'worker')}, on ${where}.`;
}
