// One scenario: its edits in their order, what they do, and its runs.

import { get, patch, post } from '../lib/api.js';
import { $, debounce, fill, h, setText } from '../lib/dom.js';
import { clock, number, plural, wall } from '../lib/format.js';
import { History } from '../lib/history.js';
import { empty, table } from '../lib/list.js';
import { url } from '../lib/view.js';
import { ServerPicture } from '../charts/server-picture.js';
import { paintStrip } from '../charts/edit-strip.js';
import { EditForm } from '../controls/edit-form.js';
import { effectWords, paintEdits } from '../controls/edit-list.js';

const PREVIEW_MS = 150;
const MOST_ROWS = 500;
const id = Number($('main').dataset.scenario);
const operator = document.body.dataset.role === 'operator';
let scenario = null;
let cluster = null;
let answer = null;
let history = null;
let form = null;
let picture = null;
let asked = 0;

const edits = () => history.value;
const changed = () => JSON.stringify(edits()) !== JSON.stringify(scenario.edits);

async function start() {
  const [found, verbs] = await Promise.all([get(`/api/scenarios/${id}/`), get('/api/edits/')]);
  cluster = await get(`/api/clusters/${found.cluster}/`);
  take(found);
  picture = new ServerPicture($('#servers'), choose);
  if (operator) {
    const least = scenario.fork_ms ?? 0;
    form = new EditForm($('#add'), {
      verbs, atMs: Number(url.get('at') ?? least), wholeTitle: scenario.fork_ms === null ? '0: from the beginning' : `from ${clock(least)}, the fork, on`,
      onDone: (edit, place) => {
        history.change(place === null ? [...edits(), edit] : edits().map((other, i) => (i === place ? { ...edit, off: other.off } : other)));
        form.reset();
      },
    });
    const wanted = url.get('servers');
    if (wanted) {
      form.show(verbs.find(({ name }) => name === (url.get('verb') ?? 'drain_servers')) ?? verbs[0], { servers: wanted, at_ms: Number(url.get('at') ?? least), from_ms: url.get('from') ? Number(url.get('from')) : undefined, to_ms: url.get('to') ? Number(url.get('to')) : undefined });
    }
    wire();
  }
  await Promise.all([preview(), runs()]);
}

/** Makes what the server has the present state. */
function take(found) {
  scenario = found;
  setText($('#name'), found.name);
  document.title = `${found.name} · Edge-cloud twin`;
  const parameters = Object.entries(found.parameters).map(([k, v]) => `, ${k} ${v}`).join('');
  fill($('#about'), `${found.cluster_name} (${plural(found.server_count, 'server')}), ${found.trace_name} (${plural(found.job_count, 'job')}), ${found.scheduler}${parameters}, seed ${found.seed}`,
    found.fork_ms === null ? null : [' · goes on from ', found.parent ? h('a', { href: `/runs/${found.parent}/` }, `run ${found.parent}`) : 'a run that is gone', ` at ${clock(found.fork_ms)}`]);
  history = new History(found.edits, () => {
    paint();
    previewSoon();
  });
}

function wire() {
  $('#undo').addEventListener('click', () => history.undo());
  $('#redo').addEventListener('click', () => history.redo());
  addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || event.target.closest('input, select, textarea')) return;
    event.preventDefault();
    if (event.shiftKey) history.redo();
    else history.undo();
  });
  $('#save').addEventListener('click', () => save().catch(fail));
  $('#run').addEventListener('click', () => saveAndRun().catch(fail));
  $('#copy').addEventListener('click', () => copy().catch(fail));
  $('#sweep').addEventListener('click', () => location.assign(`/sweeps/?scenario=${id}`));
  addEventListener('beforeunload', (event) => changed() && event.preventDefault());
}

async function save() {
  if (!changed()) return true;
  try {
    const kept = await patch(`/api/scenarios/${id}/edits/`, { version: scenario.version, edits: edits() });
    scenario = { ...scenario, ...kept };
    fail(null);
    paint();
    setText($('#saved'), `Saved as version ${scenario.version}`);
    return true;
  } catch (error) {
    if (error.status !== 409) throw error;
    conflict(error.body.newest, error.message);
    return false;
  }
}

async function saveAndRun() {
  if (!(await save())) return;
  const run = await post('/api/runs/', { scenario: id, mode: 'batch' });
  location.assign(scenario.parent ? `/compare/?runs=${scenario.parent},${run.id}` : `/runs/${run.id}/`);
}

async function copy() {
  if (scenario.fork_ms !== null) {
    const made = await post(`/api/runs/${scenario.parent}/forks/`, { at_ms: scenario.fork_ms, name: `${scenario.name}, copy`.slice(0, 200) });
    await patch(`/api/scenarios/${made.scenario.id}/edits/`, { version: 1, edits: edits() });
    return leave(`/scenarios/${made.scenario.id}/`);
  }
  const { cluster: of, trace, scheduler, parameters, seed } = scenario;
  const made = await post('/api/scenarios/', { name: `${scenario.name}, copy`.slice(0, 200), cluster: of, trace, scheduler, parameters, seed, edits: edits() });
  return leave(`/scenarios/${made.id}/`);
}

function leave(address) {
  scenario = { ...scenario, edits: edits() }; // what was edited is kept elsewhere
  location.assign(address);
}

/** Somebody else has saved: both lists are there, and the operator chooses. */
function conflict(newest, sentence) {
  const mine = edits();
  const box = $('#conflict');
  const lines = (list) => h('ol', {}, list.map((edit) => h('li', {}, `${edit.off ? '(off) ' : ''}${edit.verb.replaceAll('_', ' ')} at ${clock(edit.at_ms ?? 0)}: ${Object.entries(edit).filter(([k]) => !['verb', 'at_ms', 'off'].includes(k)).map(([k, v]) => `${k} ${v}`).join(', ')}`)));
  fill(box, h('header', {}, h('h2', {}, 'Somebody else changed this scenario')), h('p', {}, `${sentence}. Yours are all still below.`),
    h('div', { class: 'two' }, h('div', {}, h('h3', {}, 'Theirs'), lines(newest.edits)), h('div', {}, h('h3', {}, 'Yours'), lines(mine))),
    h('p', { class: 'actions' },
      h('button', { type: 'button', onclick: () => copy().catch(fail) }, 'Keep mine as a copy'), ' ',
      h('button', { type: 'button', onclick: () => settle(newest, newest.edits) }, 'Take theirs'), ' ',
      h('button', { type: 'button', onclick: () => settle(newest, mine) }, 'Put mine in place of theirs')));
  box.hidden = false;
  box.scrollIntoView({ block: 'nearest' });
}

function settle(newest, chosen) {
  $('#conflict').hidden = true;
  scenario = { ...scenario, ...newest };
  history.change(chosen);
}

const previewSoon = debounce(() => preview().catch(fail), PREVIEW_MS);

async function preview() {
  const mine = ++asked;
  paint();
  const told = await post(`/api/scenarios/${id}/edits/`, { edits: edits() });
  if (mine !== asked) return;
  answer = { ...told, of: edits() };
  paint();
}

function paint() {
  const fresh = answer?.of === edits() ? answer : null;
  const wrong = Boolean(fresh?.error || fresh?.rows.some((row) => row.error));
  paintEdits($('#edits'), { edits: edits(), rows: fresh?.rows ?? answer?.rows.filter((_, i) => answer.of[i] === edits()[i]), fixedBefore: scenario.fork_ms, editable: operator, onChange: (list) => history.change(list), onPick: (edit, place) => form.change(edit, place) });
  setText($('#effect'), fresh ? (edits().some((edit) => !edit.off) ? `In all: ${effectWords(fresh.effect).join(', ') || 'nothing of cluster, jobs and scheduler'}` : '') : 'checking …');
  $('#whole').hidden = !fresh?.error;
  setText($('#whole'), fresh?.error ?? '');
  const to = Math.max(scenario.ends_ms ?? 0, ...edits().map((edit) => edit.at_ms ?? 0), 3_600_000);
  paintStrip($('#strip'), { edits: edits(), from: 0, to, least: scenario.fork_ms ?? 0, fork: scenario.fork_ms, editable: operator, onMove: (place, atMs) => history.change(edits().map((edit, i) => (i === place ? { ...edit, at_ms: atMs } : edit))) });
  if (picture && fresh) paintServers(fresh);
  if (!operator) return;
  $('#undo').disabled = !history.past.length;
  $('#redo').disabled = !history.future.length;
  $('#save').disabled = !changed() || wrong || !fresh;
  $('#run').disabled = wrong || !fresh;
  setText($('#run'), changed() ? 'Save and run' : scenario.parent ? 'Run, and compare with the present' : 'Run');
  if (changed()) setText($('#saved'), 'Not saved yet');
}

function paintServers({ servers, sites }) {
  const all = [...cluster.spec.servers.map(({ name, site }) => ({ name, site })), ...Object.entries(sites).map(([name, site]) => ({ name, site }))];
  picture.set(all, servers);
  const rows = all.slice(0, MOST_ROWS);
  const button = $('#as-table');
  button.onclick = () => {
    const box = $('#server-table') ?? h('div', { id: 'server-table', class: 'scroll', hidden: true });
    if (!box.isConnected) $('#servers').after(box);
    box.hidden = !box.hidden;
    button.setAttribute('aria-pressed', String(!box.hidden));
    fill(box, h('p', { class: 'muted small' }, all.length > rows.length ? `the first ${number(rows.length, 0)} of ${plural(all.length, 'server')}` : plural(all.length, 'server')),
      table([{ title: 'Server', cell: ({ name }) => name }, { title: 'Site', cell: ({ site }) => site }, { title: 'Edits', cell: ({ name }) => servers[name] ?? '' }], rows));
  };
}

function choose(names) {
  setText($('#picked'), names.length ? `${plural(names.length, 'server')} chosen: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}` : 'Choose by click, or drag over several; they fill the form above');
  if (names.length) form?.choose(names);
}

async function runs() {
  const page = await get(`/api/runs/?scenario=${id}&size=50`);
  const columns = [
    { title: 'Run', cell: (run) => [h('a', { href: `/runs/${run.id}/` }, `Run ${run.id}`), scenario.parent ? [' · ', h('a', { href: `/compare/?runs=${scenario.parent},${run.id}` }, 'compare with the present')] : null] },
    { title: 'Status', cell: (run) => run.status },
    { title: 'Started', cell: (run) => h('span', { class: 'muted nowrap' }, wall(run.created_at)) },
  ];
  fill($('#runs'), page.results.length ? table(columns, page.results) : empty('No run yet', operator ? '“Run” plays it with these edits.' : 'An operator can start one.'));
}

function fail(error) {
  const box = $('#failed');
  box.hidden = !error;
  setText(box, error ? error.message : '');
}

start().catch(fail);
