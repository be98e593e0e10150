// The certificate of a run: its result, the sentences that state its proof, and the prices of the relaxation as curves.

import { PRICE_MEASURE } from '../../charts/prices.js';
import { Curves } from '../../charts/parts/line-panel.js';
import { ENDED } from '../../core/sockets/run-end.js';
import { get, post, remove } from '../../core/api.js';
import { NEVER } from '../../core/columns/bars.js';
import { colors } from '../../util/colors.js';
import { fill, h, setText } from '../../ui/dom.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { capital, clock, duration, number, plural, provedShare, significant } from '../../util/format.js';
import { rulesOf } from '../../util/run-modes.js';
import { searchSentence } from './oracle-gap.js';
import { registerPanel } from './registry.js';

const BOUND_TYPES = {
  trivial: 'the sum of the utilities of the jobs if each ended as early as it would alone, even after the horizon',
  repaired_dual: "the scheduler's own prices, corrected to be dual feasible",
  pooled_lp: 'the linear relaxation with all servers combined into one',
  lp_priced_dual: 'the prices of the linear relaxation',
  branched_dual: 'all schedules, split into cases by the completion times of jobs, with prices for each case',
};
const POOLS = { worker: 'for workers', ps: 'for parameter servers', all: '' };

const TIMES = {
  jct_iso: [
    'total completion time',
    'the completion time of each job alone in the empty cluster, with undivided chunks',
  ],
  jct_lb: ['total completion time', "weak duality, with each worker's backlog as its price"],
  machine_work: ['makespan', 'the computation of all jobs, spread over all machines without gaps'],
  longest_job: ['makespan', 'the longest job alone on all machines'],
};

const SPREAD =
  'the sum over the jobs of the shortest completion time on the workers of their type without other jobs, ' +
  'with each worker available from the upload of its data and at most one worker per chunk';

/** A ratio >= 1, rounded up. */
function factorOf(achieved, bound) {
  return (Math.ceil((achieved / bound) * 1000) / 1000).toFixed(3);
}

/** Claim among schedules without the cloud, for one that does not use it; '' for others. */
function edgeSentence({ achieved, edge_only: edge }) {
  if (!edge?.bound) return '';
  return (
    ` Without the unlimited cloud, as here, no schedule can take less than ${duration(edge.bound)}: ` +
    `within a factor of ${factorOf(achieved, edge.bound)} of the optimum without it ` +
    `(proved share: ${provedShare(edge.ratio)}).`
  );
}

/** The same for times, which are bounded from below. */
function timesSentence(certificate) {
  const { kind, achieved, bound, ratio, jobs, left_out: leftOut, coarse, at_ms: at, seconds } = certificate;
  const [what, proofText] = TIMES[kind];
  // older certificates have no more data
  const proof = kind === 'jct_iso' && certificate.gangs !== false ? SPREAD : proofText;
  if (!achieved) return 'No certificate yet: no job is completed or planned.';
  const rest = leftOut ? ` ${plural(leftOut, 'job')} without a planned finish are not included.` : '';
  const size = coarse ? ' The bound is coarser than for smaller runs, to limit the computation time.' : '';
  const factor =
    bound > 0
      ? `The schedule is within a factor of ${factorOf(achieved, bound)} of the ` +
        `optimum (proved share: ${provedShare(ratio)}).`
      : '';
  const edge = edgeSentence(certificate);
  const note =
    what === 'makespan'
      ? ' It does not cover single jobs or utility.'
      : ' The competitive ratio of the paper is not claimed here, because its proof does not hold as ' + 'written.';
  return (
    `${capital(what)}, completed and planned jobs: ${duration(achieved)}. No ` +
    `schedule of the ${plural(jobs, 'job')} known at ${clock(at)}, not even a clairvoyant one, ` +
    `can take less than ${duration(bound)}. Bound: ${proof}. ${factor}${edge}${rest}${size}${note} Computed in ` +
    `${number(seconds, 2)} s.${older(certificate)}`
  );
}

/** Reason why the certificate shown is not up to date; '' if it is. */
function older({ kind, why }) {
  return why && kind !== 'none' ? ` This certificate is not up to date: ${why}.` : '';
}

/** True if an ended run still waits for the certificate of its last part. */
export function due({ certificate, status, last_seq: last }) {
  if (!ENDED.includes(status) || certificate?.seq === undefined || certificate.seq >= last || certificate.why)
    return '';
  return 'The run has continued since; its final certificate is still to be computed.';
}

/** True if a certificate bounds something: it was computed, and a job was known. */
export function claims(/** @type {any} */ certificate) {
  const { kind, jobs, achieved } = certificate ?? {};
  return Boolean(kind && kind !== 'none' && jobs !== 0 && !(kind in TIMES && !achieved));
}

/** Sentence on what a certificate leaves out; '' while it has all of the jobs that have arrived. */
export function leftOut(/** @type {any} */ certificate, arrived) {
  const newer = claims(certificate) ? arrived - certificate.jobs : 0;
  return newer > 0 ? `It covers the jobs known at ${clock(certificate.at_ms)}, not ${plural(newer, 'later job')}.` : '';
}

/** Sentence with the achieved value, the bound and its proof; '' without a certificate. */
export function sentence(certificate) {
  if (!certificate?.kind || certificate.jobs === 0) return '';
  if (certificate.kind === 'none') return `No certificate: ${certificate.why}.`;
  if (certificate.kind in TIMES) return timesSentence(certificate);
  const { achieved, bound, ratio, jobs, sampled, training, at_ms: at, slots, seconds } = certificate;
  const proof = BOUND_TYPES[certificate.kind] ?? certificate.kind;
  const share =
    ratio === null
      ? 'No job can earn any utility.'
      : `The schedule reaches at least ${provedShare(ratio)} of the optimum.`;
  const size = sampled
    ? ` The prices come from a sample of ${plural(sampled, 'job')}, to limit the computation time: ` +
      'the bound holds for all jobs but is coarser.'
    : '';
  const model = training ? `, with the training model ${training},` : ''; // the bound holds for it
  return (
    `Utility of completed and planned jobs: ${number(achieved, 1)}. No schedule of the ${plural(jobs, 'job')} ` +
    `known at ${clock(at)}${model} can earn more than ${number(bound, 1)}. Bound: ${proof}. ` +
    `${share} The bound covers these jobs in whole slots up to slot ${number(slots, 0)}; ` +
    `computed in ${number(seconds, 2)} s.${size}${older(certificate)}`
  );
}

/** [figure, what it is of] of a certificate with a result, for the first line of the panel; null for others. */
export function result(/** @type {any} */ certificate) {
  const { kind, achieved, bound, ratio } = certificate ?? {};
  if (!kind || kind === 'none' || !achieved || !(bound > 0)) return null;
  if (!(kind in TIMES)) return ratio === null ? null : [`≥ ${provedShare(ratio)}`, 'of the optimal utility'];
  const [what] = TIMES[kind];
  return [`≤ ${factorOf(achieved, bound)} ×`, `the optimal ${what}`];
}

/** [{key, name, ...}] for Curves from the prices of the API. */
function priceCurves(prices, info, slotMs) {
  return (prices?.curves ?? []).map(({ pool, resource, price }) => {
    const r = info.resources.indexOf(resource);
    const step = prices.slots_a_point * slotMs;
    const y = Float64Array.from([...price, price.at(-1)]);
    return {
      key: `${pool}${r}`,
      name: `${info.names[r]} ${POOLS[pool]}`.trim(),
      unit: `per ${info.units[r]}`,
      color: colors().resources[r],
      dash: pool === 'ps' ? [5, 3] : [],
      x: Float64Array.from(y, (_, i) => i * step),
      y,
      stepped: true,
    };
  });
}

const CANCEL_AFTER_MS = 2_000;
const AGAIN_MS = 5_000; // after a failure
const QUEUED = 'The certificate is queued; certificates are computed one at a time.';

registerPanel({
  id: 'certificate',
  title: 'Optimality',
  make: (page, section) => new CertificatePanel(page, section),
});

class CertificatePanel {
  constructor({ runId, store, info, view, playhead }, { element, canvas, legend, note }) {
    this.panel = element;
    this.certified = rulesOf(info.run).simulated; // of the record of a real cluster nothing is proved
    element.hidden = !this.certified;
    this.runId = runId;
    this.store = store;
    this.note = note;
    this.prices = null;
    this.state = ''; // what is still to come
    this.folded = false; // whether the proof is folded, unless the user unfolds it
    this.seq = -1;
    // only a bound on utility has prices; space is reserved for their curves, so that the layout does not shift later
    this.#offerCurves(info.worth);
    this.part = new PagePart('prices of the certificate');
    const slotMs = info.cluster.slot_ms;
    const y = { min: 0, border: { display: false }, ticks: { maxTicksLimit: 5, callback: (v) => significant(v) } };
    const compute = () => priceCurves(this.prices, info, slotMs);
    this.chart = new Curves(canvas, {
      view,
      playhead,
      legend,
      compute,
      format: (v, curve) => `${significant(v)} / ${curve.unit.slice(4)}`,
      bare: significant,
      y,
      measure: PRICE_MEASURE,
    });
    this.cancel = h('button', { type: 'button', hidden: true, onclick: () => this.#cancel() }, 'Cancel computation');
    this.request = h('button', { type: 'button', hidden: true, onclick: () => this.#request() }, 'Compute certificate');
    this.failure = h('p', { class: 'error', role: 'alert', hidden: true });
    this.lead = h('p', { class: 'note lead', id: 'certificate-result' });
    this.proof = h('details', { open: true }, h('summary', {}, 'Proof and limits'));
    note.replaceWith(this.proof);
    this.proof.append(note);
    this.proof.after(this.cancel, this.request, this.failure);
    element.querySelector('.plot').before(this.lead);
  }

  #cancel() {
    this.cancel.hidden = true;
    return this.#change(() => remove(this.#address));
  }

  #request() {
    this.request.hidden = true;
    return this.#change(() => post(this.#address));
  }

  get #address() {
    return `/api/runs/${this.runId}/certificate/`;
  }

  /** A request about the computation; if it fails, the message and the current state are shown. */
  async #change(ask) {
    setText(this.failure, '');
    try {
      await ask();
    } catch (error) {
      setText(this.failure, error.message);
      if (error.status) this.status({ ...this.newest, ...(await get(this.#address).catch(() => ({}))) });
    }
    this.failure.hidden = !this.failure.textContent;
  }

  /**
   * Handles a status of the run: fetches a newer certificate with its prices. computing: whether the next one is being
   * computed; queued: whether it waits for its turn.
   */
  status(newest) {
    if (!this.certified) return;
    this.newest = newest;
    const { certificate, certifying: computing = false, certificate_queued: queued = false } = newest;
    const said = sentence(certificate);
    const proof = [claims(certificate) ? said : '', searchSentence(certificate?.search)].filter(Boolean);
    const operator = document.body.dataset.role === 'operator';
    const idle = !computing && !queued && ENDED.includes(newest.status);
    this.request.hidden = !(operator && certificate?.given_up && idle);
    const coming = !proof.length || certificate?.given_up ? 'The certificate is being computed …' : '';
    const { arrived_ms: times, length } = this.store.jobs;
    const arrived = times.subarray(0, length).reduce((sum, ms) => sum + Number(ms !== NEVER), 0);
    const rest = due(newest) || leftOut(certificate, arrived);
    this.state = [claims(certificate) ? '' : said, rest, computing ? coming : queued ? QUEUED : '']
      .filter(Boolean)
      .join(' ');
    const text = proof.join('\n');
    this.#offerCancel(computing || queued);
    this.panel.hidden = !text && !this.state;
    this.#lead();
    this.proof.hidden = !text;
    setText(this.note, text);
    if (this.panel.hidden || certificate?.seq === this.seq) return;
    this.seq = certificate?.seq;
    get(`/api/runs/${this.runId}/certificate/`)
      .then(({ prices }) => {
        this.prices = prices;
        this.#offerCurves(prices?.curves.length);
        this.part.loaded();
        this.chart.update();
        this.#lead();
      })
      .catch((error) => {
        this.part.failed(error);
        setTimeout(() => this.seq === certificate?.seq && this.#again(), AGAIN_MS);
      });
  }

  #offerCurves(known) {
    for (const part of ['.plot', '.actions', '.legend']) this.panel.querySelector(part).hidden = !known;
  }

  #again() {
    this.seq = -1;
    this.status(this.newest);
  }

  /** An operator can cancel a computation or a wait that takes long. */
  #offerCancel(computing) {
    if (computing === Boolean(this.offer)) return;
    clearTimeout(this.offer);
    this.offer =
      computing && document.body.dataset.role === 'operator'
        ? setTimeout(() => (this.cancel.hidden = false), CANCEL_AFTER_MS)
        : null;
    if (!computing) this.cancel.hidden = true;
  }

  /** The first line: the result, what the curves are, and what is still to come. Proofs of a result are folded. */
  #lead() {
    const { certificate = null } = this.newest;
    const found = result(certificate);
    const [figure, of] = found ?? [];
    const line = (text) => (text ? h('span', {}, text) : null);
    fill(
      this.lead,
      found ? h('span', {}, h('b', {}, figure), ` ${of}`) : null,
      line(this.prices?.curves.length ? `Curves: prices of the bound, in ${PRICE_MEASURE}.` : ''),
      line(this.state),
    );
    this.lead.hidden = !this.lead.childNodes.length;
    if (Boolean(found) === this.folded) return;
    this.folded = Boolean(found);
    this.proof.open = !this.folded;
  }
}
