// The runs of a scenario, each with its comparison to the run that the scenario was forked from.

import { get } from '../../core/api.js';
import { deleteRun } from '../../run/delete-run.js';
import { empty, table } from '../../ui/data-table.js';
import { statusMark } from '../../ui/labels/state-mark.js';
import { fill, h } from '../../ui/dom.js';
import { wall } from '../../util/format.js';
import { Later } from '../../util/throttle.js';
import { ACTIVE } from '../../core/active-runs.js';

const FOLLOW_MS = 1000; // at most one request for the list in this time

/** The list of the runs of a scenario: its states follow the messages about runs, and new runs are listed. */
export class RunList {
  /** Parameters as for paintRuns; scenario() gives the current one. */
  constructor(box, scenario, operator, fail) {
    this.paint = () => paintRuns(box, scenario(), operator, fail);
    this.listed = [];
    this.news = new Set(); // runs with messages since the last request
    this.others = new Set(); // runs of other scenarios
    this.later = new Later(FOLLOW_MS, () => this.load().catch(fail));
  }

  async load() {
    const news = [...this.news];
    this.news.clear();
    this.listed = await this.paint();
    for (const id of news) if (!this.listed.some((run) => run.id === id)) this.others.add(id);
  }

  /** A message about a run (core/sockets/overview-socket.js). */
  hear(message) {
    const { id, status } = message.run ?? message;
    const known = this.listed.find((run) => run.id === id);
    if (message.type === 'trace' || this.others.has(id) || (known && known.status === status)) return;
    this.news.add(id);
    this.later.ask();
  }
}

/**
 * @param {HTMLElement} box
 * @param {{id: number, name: string, parent: number | null}} scenario
 * @param {boolean} operator who may delete runs
 * @param {(error: any) => void} fail
 */
async function paintRuns(box, scenario, operator, fail) {
  const comparison = (run) =>
    h('a', { href: `/compare/?runs=${scenario.parent},${run.id}` }, `Compare with run ${scenario.parent}`);
  const erase = async (run) => {
    const again = () => paintRuns(box, scenario, operator, fail);
    try {
      if (await deleteRun({ id: run.id, name: scenario.name, events: run.last_seq })) await again();
    } catch (error) {
      fail(error);
      if (error.status === 404) await again(); // somebody else has deleted it
    }
  };
  const deletion = (run) =>
    h('button', { type: 'button', class: 'quiet', onclick: () => erase(run).catch(fail) }, 'Delete');
  const columns = [
    {
      title: 'Run',
      cell: (run) => [
        h('a', { class: 'nowrap', href: `/runs/${run.id}/` }, `Run ${run.id}`),
        scenario.parent ? [' · ', comparison(run)] : null,
      ],
    },
    { title: 'State', cell: statusMark },
    { title: 'Started', cell: (run) => h('span', { class: 'muted nowrap' }, wall(run.created_at)) },
    { title: '', number: true, cell: (run) => (operator && !ACTIVE.includes(run.status) ? deletion(run) : null) },
  ];
  const page = await get(`/api/runs/?scenario=${scenario.id}&size=50`);
  fill(
    box,
    page.results.length
      ? table(columns, page.results)
      : operator
        ? h('p', { class: 'empty' }, h('strong', {}, 'No runs yet'), '“Run”, below the edits, simulates the scenario.')
        : empty('No runs yet', 'Operators start runs.', ['Show all scenarios', '/scenarios/']),
  );
  return page.results;
}
