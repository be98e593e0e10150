// Buttons of a scenario: they save its edits, run them, or copy them into a new scenario.

import { tick } from '../../core/first-steps.js';
import { patch, post } from '../../core/api.js';
import { Refusal } from '../../core/client-errors.js';

const LEAVES = 'leaves'; // what an action returns that leads to another page
const MAX_NAME = 200;

export class DraftActions {
  #busy = false; // while one is under way

  /**
   * take: adds the edit in the form, false if it is invalid; onConflict: with the version that somebody else saved;
   * onError: the reason why an action failed, or null.
   */
  constructor(draft, { take, onConflict, onError }) {
    this.draft = draft;
    this.take = take;
    this.onConflict = onConflict;
    this.onError = onError;
    addEventListener('pageshow', () => (this.#busy = false)); // also where Back shows the page as it was left
  }

  save() {
    return this.#alone(() => this.#save());
  }

  saveAndRun() {
    return this.#alone(() => this.#saveAndRun());
  }

  copy() {
    return this.#alone(() => this.#copy());
  }

  /** One action at a time: a second click would start a second run. */
  async #alone(action) {
    if (this.#busy) return;
    this.#busy = true;
    try {
      this.#busy = (await action()) === LEAVES;
    } catch (error) {
      this.#busy = false;
      this.onError(error);
    }
  }

  async #taken() {
    this.onError(null);
    if (!this.take()) return false;
    await this.draft.settled();
    return true;
  }

  async #save() {
    const draft = this.draft;
    if (!(await this.#taken())) return false;
    if (!draft.changed) return true;
    try {
      const { edits } = draft;
      draft.update(await draft.own(patch(draft.address, { version: draft.scenario.version, edits })));
      if (draft.edits.some(({ verb }) => verb === 'fail_servers')) tick('fail');
      this.onError(null);
      draft.saved = `Saved as version ${draft.scenario.version}`;
      draft.onChange();
      return true;
    } catch (error) {
      if (error.status !== 409) throw error;
      this.onConflict(error.body.newest);
      return false;
    }
  }

  async #saveAndRun() {
    if (!(await this.#save())) return null;
    const { edits, scenario } = this.draft;
    const { id, parent, fork_ms: forkMs } = scenario;
    if (parent && !edits.some((edit) => !edit.off && edit.at_ms >= forkMs)) {
      throw new Refusal(`No edits yet: this would repeat run ${parent}. Add an edit first.`);
    }
    const run = await post('/api/runs/', { scenario: id, mode: 'batch' });
    return this.#leave(parent ? `/compare/?runs=${parent},${run.id}` : `/runs/${run.id}/`);
  }

  async #copy() {
    if (!(await this.#taken())) return null;
    const { edits, scenario } = this.draft;
    const name = `${scenario.name}, copy`.slice(0, MAX_NAME);
    if (scenario.fork_ms !== null) {
      if (!scenario.parent) throw new Refusal('No copy is possible: the run that this scenario continues was deleted.');
      const made = await post(`/api/runs/${scenario.parent}/forks/`, { at_ms: scenario.fork_ms, name });
      await patch(`/api/scenarios/${made.scenario.id}/edits/`, { version: 1, edits });
      return this.#leave(`/scenarios/${made.scenario.id}/`);
    }
    const { cluster, trace, scheduler, parameters, seed } = scenario;
    const made = await post('/api/scenarios/', { name, cluster, trace, scheduler, parameters, seed, edits });
    return this.#leave(`/scenarios/${made.id}/`);
  }

  #leave(address) {
    this.draft.update({ edits: this.draft.edits }); // nothing is left that the page would warn of
    location.assign(address);
    return LEAVES;
  }
}
