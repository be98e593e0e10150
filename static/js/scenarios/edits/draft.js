// Draft of a scenario: its edits with undo and redo beside those that are saved, and what the server says of them.

import { post } from '../../core/api.js';
import { Refusal } from '../../core/client-errors.js';
import { debounce } from '../../ui/dom.js';
import { PagePart } from '../../ui/failures/page-part.js';
import { isRefusal } from '../../util/poll.js';
import { History } from './undo-history.js';

const CHECK_MS = 150; // between a change and its check
const AGAIN_MS = 5_000; // until edits are checked again that could not be

export class Draft {
  #answer = null; // the newest check, with `of`: the edits that it is about
  #asked = 0; // checks that were requested
  #typed = null; // {edits, of, curves} of the input in the form, for the list of edits at that time
  #typedPart = new PagePart('curves with the edit in the form');
  #unchecked = false; // whether the page says why the edits could not be checked

  /** onChange: after every change of what is shown; onError: the reason why edits are not checked, or null. */
  constructor(found, { onChange, onError }) {
    this.gone = false; // whether somebody has deleted the scenario: its edits can still be saved as a copy
    this.saved = ''; // message of the newest save
    this.address = `/api/scenarios/${found.id}/edits/`;
    this.onChange = onChange;
    this.onError = onError;
    this.scenario = found;
    this.checkSoon = debounce(() => this.check(), CHECK_MS);
    this.typedSoon = debounce(
      (peek) => this.#checkTyped(peek()).catch((error) => this.#notCheckedTyped(error)),
      CHECK_MS,
    );
    this.history = new History(found.edits, () => {
      onChange();
      this.checkSoon();
    });
  }

  get edits() {
    return this.history.value;
  }

  /** The check of the edits as they are; null until there is one. */
  get checked() {
    return this.#answer?.of === this.edits ? this.#answer : null;
  }

  get wrong() {
    return Boolean(this.checked?.error || this.checked?.rows.some((row) => row.error));
  }

  get changed() {
    return JSON.stringify(this.edits) !== JSON.stringify(this.scenario.edits);
  }

  /** Results of the newest check by edit; none for an edit that has changed since then. */
  get rows() {
    return this.checked?.rows ?? this.#answer?.rows.filter((_, i) => this.#answer.of[i] === this.edits[i]);
  }

  /** The time up to which the newest check has curves, in ms. */
  get curvesEndMs() {
    return this.#answer?.curves?.to_ms ?? 0;
  }

  /** The input in the form, if it was made for the edits as they are. */
  get typed() {
    return this.#typed?.of === this.edits ? this.#typed : null;
  }

  change(edits) {
    this.history.change(edits);
  }

  /** Edits of the form at their place in the list; at null, at its end. */
  put(given, place) {
    this.change(this.#with(given, place, (old) => ({ ...given[0], off: old.off })));
  }

  /** Fields of the scenario that have changed on the server. */
  update(fields) {
    this.scenario = { ...this.scenario, ...fields };
  }

  /** The version that somebody else has saved, with the edits that are chosen from then on. */
  settle(newest, chosen) {
    this.update(newest);
    this.saved = '';
    this.change(chosen);
  }

  /** Checks the edits; where the server cannot be reached, until it can: the buttons wait for it. */
  async check() {
    try {
      await this.preview();
      if (this.#unchecked) this.onError(null);
      this.#unchecked = false;
    } catch (error) {
      this.onError(error);
      this.#unchecked = true;
      if (error.status === 0) setTimeout(() => this.checked || this.check(), AGAIN_MS);
    }
  }

  /** The connection is back. */
  retry() {
    if (this.#unchecked) this.check();
  }

  /** One check of the edits; fails with the reason. */
  async preview() {
    const mine = ++this.#asked;
    const of = this.edits;
    this.onChange();
    const checked = await this.own(post(this.address, { edits: of }));
    if (mine !== this.#asked) return;
    this.#answer = { ...checked, of };
    this.onChange();
  }

  /** Waits until the edits are checked; refuses those that are not possible. */
  async settled() {
    while (!this.checked && !this.gone) await this.preview();
    if (this.wrong)
      throw new Refusal(
        'An edit is not possible; the list of edits states which one and why. Change or remove it first.',
      );
  }

  /** The answer of the scenario itself; if it was deleted, the error says how to keep the edits. */
  own(request) {
    return request.catch((error) => {
      if (error.status !== 404) throw error;
      this.gone = true;
      this.onChange();
      throw new Refusal(`${error.message} “Save a copy” keeps the edits that are shown here.`);
    });
  }

  #with(given, place, changed) {
    return place === null ? [...this.edits, ...given] : this.edits.map((old, i) => (i === place ? changed(old) : old));
  }

  /** The curves with the edit that is being typed. given: {edits, place}, or null without one. */
  async #checkTyped(given) {
    const mine = (this.#typed = given && { edits: given.edits, of: this.edits, curves: null });
    this.onChange();
    if (!given) return;
    const edits = this.#with(given.edits, given.place, () => given.edits[0]);
    const { curves, rows } = await post(this.address, { edits });
    if (mine !== this.#typed) return;
    this.#typedPart.loaded();
    if (!rows.some(({ error }) => error)) mine.curves = curves;
    this.onChange();
  }

  /**
   * A failed check of the edit in the form. A refusal is not shown, because the edit may be incomplete; adding the edit
   * shows the reason.
   */
  #notCheckedTyped(error) {
    if (isRefusal(error)) this.#typedPart.forget();
    else this.#typedPart.failed(error);
  }
}
