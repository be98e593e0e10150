// First divergence of two runs: the job, the time, and both decisions as text.

import { fill, h } from '../ui/dom.js';
import { capital, clock, number, plural } from '../util/format.js';
import { lateText } from './comparison.js';
import { rulesOf } from '../util/run-modes.js';

/**
 * divergence: {at_ms, why, job, model, jobs, same_before, base, other}; onShow() shows the job and the moment in the
 * schedules.
 */
export function paintDivergence(body, actions, answer, position, divergence, onShow) {
  fill(actions);
  const [base, other] = [answer.runs[0], answer.runs[position]];
  if (!base.begun || !other.begun)
    return fill(body, h('p', { class: 'muted' }, `Run ${base.begun ? other.id : base.id} has not started.`));
  const late = lateText([base, other], answer.at_ms);
  if (late) return fill(body, h('p', { class: 'muted' }, late));
  if (divergence.at_ms === null) return fill(body, h('p', { class: 'muted' }, noneText(divergence, answer.at_ms)));
  fill(actions, h('button', { type: 'button', id: 'show-divergence', onclick: onShow }, 'Show in the schedules'));
  const before = divergence.same_before
    ? `${plural(divergence.same_before, 'earlier decision')} ${divergence.same_before === 1 ? 'is' : 'are'} ` +
      'the same in both runs.'
    : 'This is the first decision of both runs.';
  const more =
    divergence.jobs > 1
      ? ` The runs decide differently about ${plural(divergence.jobs, 'job')} at this time; this is the first.`
      : '';
  fill(
    body,
    h(
      'p',
      {},
      'At ',
      h('strong', {}, clock(divergence.at_ms)),
      ...headText(divergence, h('strong', {}, divergence.job)),
      ` ${before}${more}`,
    ),
    h(
      'div',
      { class: 'columns' },
      side(base, divergence.base, divergence.at_ms, answer.at_ms),
      side(other, divergence.other, divergence.at_ms, answer.at_ms),
    ),
  );
}

/** Sentence about what differs, around the name of the job. */
export function headText({ model, base, other }, job) {
  if (!sameDecision(base, other)) return [', the runs make different decisions for job ', job, ` (${model}).`];
  const lead = [', the runs make the same decision for job ', job];
  return base.next.plan.own.length || other.next.plan.own.length
    ? [...lead, ` (${model}), but place it on other servers.`]
    : [...lead, ` (${model}), but the times or the numbers of its workers or parameter servers differ.`];
}

/** True if the texts of both decisions are equal up to the servers: only details of the plans differ. */
function sameDecision(base, other) {
  if (!base.immediate || !other.immediate || !base.next.plan || !other.next.plan) return false;
  const [one, two] = [base.next, other.next];
  const ofPlan = ['start_ms', 'finish_ms', 'workers'].every((key) => one.plan[key] === two.plan[key]);
  return one.kind === two.kind && one.sentence === two.sentence && ofPlan;
}

/** Reason why there is no first divergence: nothing differs, or the jobs cannot be compared. */
export function noneText({ why }, untilMs) {
  const end = untilMs === null ? 'the end' : clock(untilMs);
  return why
    ? `No first divergence. ${why}`
    : `No divergence up to ${end}: both runs decide the same about every common job.`;
}

/**
 * {immediate, next, standing} as in twin/analysis/comparison/decision_text.py; untilMs: end of the comparison,
 * null = the end.
 */
function side(run, { immediate, next, standing }, atMs, untilMs) {
  const head = h('h3', {}, `${run.title} · run ${run.id}`);
  const before = immediate ? null : h('p', { class: 'muted small' }, beforeText(run, standing, next, atMs, untilMs));
  const plan = (one) => (one ? h('span', { class: 'plan' }, planText(one), ownServers(one)) : null);
  if (!next)
    return h('div', {}, head, before, standing.plan ? h('div', { class: 'reason' }, plan(standing.plan)) : null);
  const [lead, rest] = reasonParts(next.kind, next.sentence);
  const when = h('time', { class: 'muted small' }, `decided at ${clock(next.at_ms)}`);
  return h(
    'div',
    {},
    head,
    before,
    h('div', { class: 'reason', 'data-kind': next.kind }, h('strong', {}, lead), rest, plan(next.plan), when),
  );
}

function beforeText(run, standing, next, atMs, untilMs) {
  const end = untilMs === null ? '' : `, up to ${clock(untilMs)}`;
  const then = next ? 'The next decision is:' : `There is no later decision${end}.`;
  return `No decision for the job at ${clock(atMs)}: ${standingText(standing, rulesOf(run).anyEnd)}. ${then}`;
}

/** Sentences about jobs that may have a plan. */
const DOING = {
  planned: 'it is planned',
  profiling: 'it is in a group, and its times are being measured',
  moving: 'it is in a group, and its model and input are being transferred',
  running: 'it is running',
  suspended: 'it is suspended',
};

/** The state of a job at a time without a decision about it; anyEnd: jobs may have ended in any way. */
export function standingText({ state, at_ms: since, plan }, anyEnd) {
  if (state === 'not arrived') return since === null ? 'it has not arrived' : `it arrives at ${clock(since)}`;
  if (state === 'completed') return `it ${anyEnd ? 'ended' : 'was completed'} at ${clock(since)}`;
  if (state === 'rejected') return `it was rejected at ${clock(since)}`;
  if (state === 'unfinished') return `it was unfinished when the run ended at ${clock(since)}`;
  if (plan) {
    const end = plan.finish_ms === null ? 'an unknown end' : clock(plan.finish_ms);
    const lead = state === 'planned' ? DOING.planned : `${DOING[state]}, with a plan`;
    return `${lead} from ${clock(plan.start_ms)} to ${end}, as decided at ${clock(since)}`;
  }
  return state === 'queued' || state === 'suspended' ? `it has been ${state} since ${clock(since)}` : DOING[state];
}

/** Sentence with the verdict in front, once: 'Rejected: ...' or 'Started ...'. */
function reasonParts(kind, sentence) {
  if (sentence === null) return ['Planned', ' without a separate decision.'];
  const word = capital(kind === 'waits' ? 'waiting' : kind);
  const [, lead, rest] =
    /^([^:.]{1,24}:)(.*)$/s.exec(sentence) ??
    (sentence.startsWith(word) ? [null, word, sentence.slice(word.length)] : [null, `${word}.`, ` ${sentence}`]);
  return [lead, rest];
}

/** Sentence about a plan: when, with how many workers, and on which servers, or that there is none. */
export function planText({ start_ms: start, finish_ms: finish, workers, servers, more }) {
  if (start === null) return 'Plan: none.';
  // workers in a group have no servers of their own
  const where = servers.length ? `, on ${servers.join(', ')}${more ? ` and ${number(more, 0)} more` : ''}` : '';
  return (
    `Plan: from ${clock(start)} to ${finish === null ? 'an unknown end' : clock(finish)}, at most ` +
    `${plural(workers, 'worker')}${where}.`
  );
}

/** Servers of a plan that the plan of the other run lacks; null for none. */
function ownServers({ own, own_more: more }) {
  if (!own.length) return null;
  return [' Not in the other run: ', h('strong', {}, own.join(', ')), more ? ` and ${number(more, 0)} more.` : '.'];
}
