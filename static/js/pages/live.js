// Live clusters: their states, the age of their data, and the cost of following.

import { get, post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { columns } from '../live/connections-table.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { $, errorLine, h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { Poll } from '../util/poll.js';

const ABOUT =
  'A connector reads Slurm, Kubernetes or posted events and shows the cluster here; it changes nothing on the cluster.';
const AGAIN_MS = 2000;
const part = new PagePart('live clusters');
const say = errorLine($('#list-error'));
const operator = document.body.dataset.role === 'operator';
let heardAt = 0;

const list = new DataTable($('#list'), {
  name: 'connections',
  columns: columns(() => Date.now() - heardAt, operator ? act : null),
});

function act(row) {
  const verb = row.wanted === 'paused' ? 'follow' : 'pause';
  const text = verb === 'pause' ? 'Pause following' : 'Resume following';
  const label = `${text} ${row.name}`;
  return h('button', { type: 'button', class: 'quiet', 'aria-label': label, onclick: () => change(row, verb) }, text);
}

async function change(row, verb) {
  try {
    await post(`/api/connections/${row.name}/${verb}/`);
    say('');
    await poll.now();
  } catch (error) {
    logError(error);
    say(error.message);
  }
}

async function load() {
  if (document.hidden && heardAt) return true;
  const page = await get('/api/connections/?size=200');
  heardAt = Date.now();
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'cluster' : 'clusters');
  list.paint(page.results, {
    none: operator
      ? empty('No live clusters yet', ABOUT, ['Connect a cluster', '/live/connect/'])
      : empty('No live clusters yet', `${ABOUT} Operators connect clusters.`, ['Show the overview', '/']),
  });
  return true;
}

const poll = new Poll(load, AGAIN_MS, (error) => {
  part.turn(error);
  if (error && !heardAt) $('#list > p')?.remove(); // “Loading …”
});
connectionBadge($('#connection'), poll, 'change');
poll.now();
