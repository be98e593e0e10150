// The certificate of a run: a sentence, and the prices of the relaxation that prove it as curves.

import { Curves } from '../charts/curves.js';
import { get } from '../lib/api.js';
import { colors } from '../lib/colors.js';
import { setText } from '../lib/dom.js';
import { clock, duration, number, significant } from '../lib/format.js';
import { searchSentence } from './search-gap.js';

export const KINDS = {
  trivial: 'what the jobs are worth if each ran alone',
  repaired_dual: "the scheduler's own prices, repaired",
  pooled_lp: 'the linear relaxation with all servers as one',
  lp_priced_dual: 'the prices of the linear relaxation',
};
const POOLS = { worker: 'for workers', ps: 'for parameter servers', all: '' };

const TIMES = {
  jct_iso: ['total completion time', 'each job alone in the empty cluster'],
  jct_lb: ['total completion time', 'weak duality with what waits on the workers as prices'],
  machine_work: ['makespan', 'the computation of all jobs spread over all machines without a gap'],
  longest_job: ['makespan', 'the longest job alone on all machines'],
};

/** The same about times, which are bounded from below. */
function timesSentence({ kind, achieved, bound, ratio, jobs, left_out: leftOut, at_ms: at, seconds }) {
  const [what, proof] = TIMES[kind];
  if (!achieved) return 'No certificate yet: no job has an end that is known or planned.';
  const rest = leftOut ? ` ${number(leftOut, 0)} jobs whose end is not planned yet are left out.` : '';
  const factor = bound > 0 ? `So it is within ${(Math.ceil((achieved / bound) * 1000) / 1000).toFixed(3)} times the optimum (${(Math.floor(ratio * 10_000 + 1e-6) / 100).toFixed(2)} % of it is proved).` : '';
  const note = what === 'makespan' ? ' It says nothing about single jobs or utility.' : ' The paper states a competitive ratio of its own; its proof does not hold as written, so none is claimed here.';
  return `${what[0].toUpperCase()}${what.slice(1)}, done and planned: ${duration(achieved)}. No schedule of the ${number(jobs, 0)} jobs known at ${clock(at)}, clairvoyant ones included, could need less than ${duration(bound)}, by ${proof}. ${factor}${rest}${note} Found in ${number(seconds, 2)} s.`;
}

/** One sentence: what is achieved, what nobody could exceed, and by which proof; '' without a certificate. */
export function sentence(certificate) {
  if (!certificate?.kind) return '';
  if (certificate.kind === 'none') return `No certificate: ${certificate.why}.`;
  if (certificate.kind in TIMES) return timesSentence(certificate);
  const { achieved, bound, ratio, jobs, at_ms: at, slots, seconds } = certificate;
  const proof = KINDS[certificate.kind] ?? certificate.kind;
  const share = ratio === null ? 'No job can earn anything.' : `So it reaches at least ${(Math.floor(ratio * 10_000 + 1e-6) / 100).toFixed(2)} % of the optimum.`;
  return `Earned and promised: ${number(achieved, 1)}. No schedule of the ${number(jobs, 0)} jobs known at ${clock(at)} could earn more than ${number(bound, 1)}, by ${proof}. `
    + `${share} The bound is about these jobs, in whole slots up to slot ${number(slots, 0)}; found in ${number(seconds, 2)} s.`;
}

/** [{key, name, ...}] for Curves from the prices of the API. */
export function priceCurves(prices, info, slotMs) {
  return (prices?.curves ?? []).map(({ pool, resource, price }) => {
    const r = info.resources.indexOf(resource);
    const step = prices.slots_a_point * slotMs;
    const y = Float64Array.from([...price, price.at(-1)]);
    return {
      key: `${pool}${r}`, name: `${info.names[r]} ${POOLS[pool]}`.trim(), unit: `per ${info.units[r]}`, color: colors().resources[r],
      dash: pool === 'ps' ? [5, 3] : [], x: Float64Array.from(y, (_, i) => i * step), y, stepped: true,
    };
  });
}

export class CertificatePanel {
  constructor(panel, { runId, info, view, playhead, canvas, legend, note }) {
    Object.assign(this, { panel, runId, note, prices: null, seq: -1 });
    const slotMs = info.cluster.slot_ms;
    const y = { min: 0, border: { display: false }, ticks: { maxTicksLimit: 5, callback: (v) => significant(v) } };
    const compute = () => priceCurves(this.prices, info, slotMs);
    this.chart = new Curves(canvas, { view, playhead, legend, compute, format: (v, curve) => `${significant(v)} / ${curve.unit.slice(4)}`, y });
    this.update(null);
  }

  /** The run's status has come: a newer certificate is fetched with its prices. */
  update(certificate) {
    const text = [sentence(certificate), searchSentence(certificate?.search)].filter(Boolean).join('\n');
    this.panel.hidden = !text;
    this.#say(text);
    if (!text || certificate.seq === this.seq) return;
    this.seq = certificate.seq;
    get(`/api/runs/${this.runId}/certificate/`).then(({ prices }) => {
      this.prices = prices;
      for (const part of ['.plot', '.actions', '.legend']) this.panel.querySelector(part).hidden = !prices?.curves.length;
      this.chart.update();
      this.#say(text);
    }).catch(() => (this.seq = -1)); // with the next status
  }

  #say(text) {
    setText(this.note, this.prices?.curves.length ? `${text} The curves are the prices of that relaxation, per whole unit and slot.` : text);
  }
}
