// Clusters: the list, a form, the upload of a cluster.json, and the content of one.

import { confirmed } from '../ui/confirm.js';
import { get, post, remove } from '../core/api.js';
import { Refusal, logError } from '../core/client-errors.js';
import { RESOURCES, alike, gpusOverTime } from '../scenarios/cluster-builder.js';
import { $, fill, h } from '../ui/dom.js';
import { clock, duration, number, plural, wall } from '../util/format.js';
import { DataTable, empty, shown, table } from '../ui/data-table.js';
import { PagePart } from '../ui/failures/page-part.js';
import { url } from '../ui/address/query.js';
import { clusterForm } from '../scenarios/cluster-form.js';
import { teamChip } from '../settings/team-chip.js';
import { repeatAfter } from '../util/poll.js';

const ABOUT = 'A cluster lists servers with their capacities; runs place jobs on them.';
const operator = document.body.dataset.role === 'operator';
const MAX_STEPS = 200;

const columns = [
  {
    title: 'Cluster',
    value: (c) => c.name,
    cell: (c) => [h('button', { type: 'button', class: 'link', onclick: () => show(c.id) }, c.name), teamChip(c)],
  },
  { title: 'Servers', value: (c) => c.server_count, number: true, cell: (c) => number(c.server_count, 0) },
  { title: 'GPUs', value: (c) => c.gpus, number: true, cell: (c) => number(c.gpus, 1) },
  {
    title: 'Source',
    wide: true,
    cell: (c) => (c.trace ? h('a', { href: `/traces/${c.trace}/` }, c.source || `trace ${c.trace}`) : c.source || '–'),
  },
  { title: 'Slot', value: (c) => c.slot_ms, number: true, cell: (c) => duration(c.slot_ms) },
  { title: 'Horizon', number: true, cell: (c) => (c.horizon_slots ? plural(c.horizon_slots, 'slot') : 'none') },
  {
    title: 'Created',
    value: (c) => c.created_at,
    cell: (c) => h('span', { class: 'muted nowrap' }, wall(c.created_at)),
  },
  {
    title: '',
    cell: (c) =>
      operator ? h('button', { type: 'button', class: 'quiet danger', onclick: () => leave(c) }, 'Delete') : '',
  },
];

const list = new DataTable($('#list'), { name: 'clusters', columns });

async function load() {
  const page = await get('/api/clusters/?size=200');
  $('#count').textContent = shown(page.results.length, page.count, page.count === 1 ? 'cluster' : 'clusters');
  list.paint(page.results, {
    none: operator
      ? empty('No clusters yet', ABOUT, ['Create a cluster', '#new'])
      : empty('No clusters yet', `${ABOUT} Operators create them.`, ['Show the overview', '/']),
  });
}

async function leave(cluster) {
  if (!(await confirmed(`Delete cluster ${cluster.name}?`, 'Delete'))) return;
  try {
    await remove(`/api/clusters/${cluster.id}/`);
    say('#list-error', '');
    if (url.get('cluster') === String(cluster.id)) close();
    await load();
  } catch (error) {
    logError(error);
    say('#list-error', error.message);
    if (error.status === 404) await load().catch(fail); // somebody else has deleted it
  }
}

let wanted = null; // id of the cluster to open
/** Opens the cluster of a row or of the address; somebody else may have deleted it. */
async function show(id, asked = true) {
  wanted = id;
  try {
    await open(id, asked);
    say('#list-error', '');
  } catch (error) {
    logError(error);
    say('#list-error', error.message);
    if (error.status === 404) await load().catch(fail);
    repeatAfter(error, () => wanted === id && show(id, asked));
  }
}

/** Shows the content of a cluster: its servers by type, and its GPUs over time if servers join or leave. */
async function open(id, asked) {
  const cluster = await get(`/api/clusters/${id}/`);
  const { servers } = cluster.spec;
  url.set({ cluster: id });
  $('#detail-name').textContent = cluster.name;
  $('#detail-note').textContent = `${plural(servers.length, 'server')}, ${cluster.source || 'unknown source'}`;
  fill(
    $('#detail-actions'),
    h('button', { type: 'button', onclick: () => download(cluster) }, 'cluster.json'),
    h('button', { type: 'button', class: 'quiet', onclick: close }, 'Close'),
  );
  const kinds = alike(servers);
  fill(
    $('#detail-kinds'),
    table(
      [
        { title: 'Servers', number: true, cell: (kind) => number(kind.count, 0) },
        { title: 'Names', cell: (kind) => (kind.count > 1 ? `${kind.first} … ${kind.last}` : kind.first) },
        { title: 'Site', cell: (kind) => kind.site },
        {
          title: 'Roles',
          cell: (kind) => kind.roles.map((role) => (role === 'ps' ? 'parameter servers' : 'workers')).join(', '),
        },
        ...RESOURCES.map(([key, unit]) => ({
          title: unit,
          number: true,
          cell: (kind) =>
            key === 'bandwidth'
              ? [...new Set(kind.gbps)].map((gbps) => number(gbps, 1)).join(' to ')
              : number(kind.capacity[key] ?? 0, 3),
        })),
        { title: 'Servers with outages', number: true, cell: (kind) => (kind.away ? number(kind.away, 0) : '–') },
      ],
      kinds,
    ),
  );
  const steps = gpusOverTime(servers);
  fill(
    $('#detail-times'),
    steps.length < 2
      ? null
      : [
          h('h2', {}, 'GPUs over time'),
          table(
            [
              { title: 'Start', cell: ([ms]) => clock(ms) },
              { title: 'GPUs', number: true, cell: ([, gpus]) => number(gpus, 1) },
            ],
            steps.slice(0, MAX_STEPS),
          ),
          h('p', { class: 'muted small' }, shown(Math.min(steps.length, MAX_STEPS), steps.length, 'steps')),
        ],
  );
  $('#detail').hidden = false;
  if (asked) $('#detail').scrollIntoView({ block: 'nearest' });
}

function close() {
  wanted = null;
  $('#detail').hidden = true;
  url.set({ cluster: null });
}

function download(cluster) {
  const address = URL.createObjectURL(
    new Blob([`${JSON.stringify(cluster.spec, null, 2)}\n`], { type: 'application/json' }),
  );
  h('a', { href: address, download: `${cluster.name}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

async function uploadFile(file) {
  say('#upload-error', '');
  try {
    await made(await post('/api/clusters/', parsed(await file.text())));
  } catch (error) {
    say('#upload-error', `${file.name}: ${error.message}`);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new Refusal(`not JSON: ${error.message}`, { cause: error });
  }
}

async function made(cluster) {
  await load();
  await open(cluster.id, true);
}

function say(selector, text) {
  $(selector).textContent = text;
  $(selector).hidden = !text;
}

const fail = (error) => say('#list-error', error.message);
if (operator) {
  clusterForm($('#new'), (cluster) => made(cluster).catch(fail));
  $('#cluster-file').addEventListener('change', ({ target }) => {
    if (target.files[0]) uploadFile(target.files[0]);
    target.value = '';
  });
}
new PagePart('list of clusters')
  .first($('#list'), load)
  .then(() => {
    const given = url.number('cluster', { from: 1, instead: 'No cluster is open.' });
    return given && show(given, false);
  })
  .catch(fail);
