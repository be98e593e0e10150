// One scenario: its edits in order, their effects, and its runs.

import { tick } from '../core/first-steps.js';
import { get, patch, post } from '../core/api.js';
import { Refusal, logError } from '../core/client-errors.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { $, $$, debounce, fill, h, setText } from '../ui/dom.js';
import { lowered, plural } from '../util/format.js';
import { History } from '../scenarios/undo-history.js';
import { inCharge } from '../models/phases.js';
import { url } from '../ui/address/query.js';
import { ServerPicture } from '../charts/server-grid.js';
import { paintCurves } from '../charts/edit-curves.js';
import { paintStrip } from '../charts/edit-timeline.js';
import { EditForm } from '../scenarios/edit-form.js';
import { effectWords, paintEdits, wasPlayed } from '../scenarios/edit-list.js';
import { busiest, loadsOf } from '../scenarios/server-loads.js';
import { showConflict } from '../scenarios/edit-conflict.js';
import { paintRuns } from '../scenarios/panels/runs.js';
import { serversTable } from '../scenarios/panels/servers-table.js';
import { failureLine } from '../ui/labels/failure-line.js';
import { momentText } from '../util/time-text.js';

const PREVIEW_MS = 150;
const AGAIN_MS = 5_000; // until edits are checked again that could not be
const LEAVES = 'leaves'; // what an action returns that leads to another page
const id = Number($('main').dataset.scenario);
const operator = document.body.dataset.role === 'operator';
let scenario = null;
let cluster = null;
let answer = null;
let history = null;
let form = null;
let picture = null;
let asked = 0;
let typed = null; // {edits, of, curves} of the input in the form, for the list of edits at that time
let titles = null; // of the schedulers
let saved = ''; // message of the newest save
let busy = false; // while a button saves, runs or copies
let gone = false; // whether somebody has deleted the scenario: its edits can still be saved as a copy
let unchecked = false; // whether the line of failures says why the edits could not be checked

const nameOf = (name) => titles?.[name] ?? name;
const edits = () => history.value;
const fresh = () => (answer?.of === edits() ? answer : null);
const wrong = () => Boolean(fresh()?.error || fresh()?.rows.some((row) => row.error));
const isPast = (edit) => wasPlayed(edit, scenario);
const fail = failureLine($('#failed'));
const changed = () => JSON.stringify(edits()) !== JSON.stringify(scenario.edits);

async function start() {
  const [found, verbs, schedulers] = await Promise.all([
    get(`/api/scenarios/${id}/`),
    get('/api/edits/'),
    operator ? get('/api/schedulers/') : [],
  ]);
  cluster = await get(`/api/clusters/${found.cluster}/`);
  titles = verbs.flatMap(({ parameters }) => parameters).find(({ name }) => name === 'scheduler')?.titles;
  take(found);
  if (found.parent && operator) followParent();
  picture = new ServerPicture($('#servers'), choose);
  if (operator) {
    form = new EditForm($('#add'), {
      verbs,
      schedulers,
      training: scenario.parameters.model,
      leastMs: scenario.fork_ms ?? 0,
      laterMs: cluster.spec.slot_ms,
      wholeTitle: scenario.fork_ms === null ? '0 is the start of the run' : `${momentText(scenario.fork_ms)} or later`,
      onDone: (given, place) => {
        history.change(
          place === null
            ? [...edits(), ...given]
            : edits().map((other, i) => (i === place ? { ...given[0], off: other.off } : other)),
        );
        form.reset();
      },
      onFilled: () => paint(),
      onInput: () => typedSoon(),
    });
    const servers = url.get('servers');
    const names = verbs.map(({ name }) => name);
    const wanted = url.choice('verb', names, 'drain_servers', 'The form is for draining servers.');
    const verb = verbs.find(({ name }) => name === wanted);
    if (servers && verb) form.begin(verb, { servers });
    wire();
  }
  await Promise.all([preview(), runs(), loads()]);
}

/** Replaces the present state by that of the server. */
function take(found) {
  scenario = found;
  setText($('#name'), found.name);
  document.title = `${found.name} · Edge-cloud twin`;
  about(found);
  history = new History(found.edits, () => {
    paint();
    previewSoon();
  });
}

/** Parts of the scenario, and what it continues. */
function about(found) {
  const parameters = found.parameter_texts.map((text) => `, ${lowered(text)}`).join('');
  const [first, ...later] = found.schedulers;
  const charge = inCharge([{ ...first, title: `${first.title}${parameters}` }, ...later]);
  fill(
    $('#about'),
    `${found.cluster_name} (${plural(found.server_count, 'server')}), ${found.trace_name} ` +
      `(${plural(found.job_count, 'job')}), ${charge}, seed ${found.seed}`,
    found.fork_ms === null
      ? null
      : [
          ' · continues ',
          found.parent ? h('a', { href: `/runs/${found.parent}/` }, `run ${found.parent}`) : 'a deleted run',
          ` from ${momentText(found.fork_ms)}`,
        ],
  );
}

/** A fork is compared with its parent as long as there is one. */
function followParent() {
  const orphaned = () => {
    scenario = { ...scenario, parent: null };
    about(scenario);
    paint();
  };
  const look = () => get(`/api/scenarios/${id}/`).then(({ parent }) => parent ?? orphaned(), logError);
  watchOverview(({ type, id: run }) => type === 'deleted' && run === scenario.parent && orphaned(), look);
}

/** Colours the servers by what was allocated at the fork, so that the busiest can be selected. */
async function loads() {
  if (!scenario.parent) return;
  const found = loadsOf(await get(`/api/scenarios/${id}/loads/`));
  picture.setLoads(found);
  if (!operator || !busiest(found, 1).length) return;
  const count = $('#busiest-count');
  $('#busiest').hidden = false;
  $('#busiest button').addEventListener('click', () => {
    const wanted = Math.max(1, Math.floor(Number(count.value) || 1));
    picture.choose(busiest(found, wanted));
  });
}

function wire() {
  for (const button of $$('[data-verb]'))
    button.addEventListener('click', () => {
      const verb = form.verbs.find(({ name }) => name === button.dataset.verb);
      form.begin(verb, { servers: [...picture.chosen].join(' '), at_ms: form.momentOf() ?? undefined });
      $('#add').scrollIntoView({ block: 'nearest' });
      $('#add [data-parameter]:not([data-parameter="servers"])')?.focus();
    });

  $('#undo').addEventListener('click', () => history.undo());
  $('#redo').addEventListener('click', () => history.redo());
  addEventListener('keydown', (event) => {
    if (
      !(event.ctrlKey || event.metaKey) ||
      event.key.toLowerCase() !== 'z' ||
      /** @type {Element} */ (event.target).closest('input, select, textarea')
    )
      return;
    event.preventDefault();
    if (event.shiftKey) history.redo();
    else history.undo();
  });
  $('#save').addEventListener('click', () => alone(save));
  $('#run').addEventListener('click', () => alone(saveAndRun));
  $('#copy').addEventListener('click', () => alone(copy));
  addEventListener('pageshow', () => (busy = false)); // also where Back shows the page as it was left
  $('#sweep').addEventListener('click', () => location.assign(`/sweeps/?scenario=${id}`));
  addEventListener('online', () => unchecked && check());
  addEventListener('beforeunload', (event) => (changed() || form.filled) && event.preventDefault());
}

/** Does what a button says unless another such action is under way: a second click would start a second run. */
async function alone(action) {
  if (busy) return;
  busy = true;
  try {
    busy = (await action()) === LEAVES;
  } catch (error) {
    busy = false;
    fail(error);
  }
}

/**
 * Adds the edit in the form, and waits until all edits are checked. False if the form is invalid; it shows why.
 */
async function taken() {
  fail(null);
  if (!form.take()) return false;
  while (!fresh() && !gone) await preview();
  if (wrong())
    throw new Refusal(
      'An edit is not possible; the list of edits states which one and why. Change or remove it first.',
    );
  return true;
}

async function save() {
  if (!(await taken())) return false;
  if (!changed()) return true;
  try {
    const kept = await own(patch(`/api/scenarios/${id}/edits/`, { version: scenario.version, edits: edits() }));
    scenario = { ...scenario, ...kept };
    if (edits().some(({ verb }) => verb === 'fail_servers')) tick('fail');
    fail(null);
    saved = `Saved as version ${scenario.version}`;
    paint();
    return true;
  } catch (error) {
    if (error.status !== 409) throw error;
    conflict(error.body.newest);
    return false;
  }
}

async function saveAndRun() {
  if (!(await save())) return null;
  if (scenario.parent && !edits().some((edit) => !edit.off && edit.at_ms >= scenario.fork_ms)) {
    throw new Refusal(`No edits yet: this would repeat run ${scenario.parent}. Add an edit first.`);
  }
  const run = await post('/api/runs/', { scenario: id, mode: 'batch' });
  return leave(scenario.parent ? `/compare/?runs=${scenario.parent},${run.id}` : `/runs/${run.id}/`);
}

async function copy() {
  if (!(await taken())) return null;
  if (scenario.fork_ms !== null) {
    if (!scenario.parent) throw new Refusal('No copy is possible: the run that this scenario continues was deleted.');
    const made = await post(`/api/runs/${scenario.parent}/forks/`, {
      at_ms: scenario.fork_ms,
      name: `${scenario.name}, copy`.slice(0, 200),
    });
    await patch(`/api/scenarios/${made.scenario.id}/edits/`, { version: 1, edits: edits() });
    return leave(`/scenarios/${made.scenario.id}/`);
  }
  const { cluster: of, trace, scheduler, parameters, seed } = scenario;
  const made = await post('/api/scenarios/', {
    name: `${scenario.name}, copy`.slice(0, 200),
    cluster: of,
    trace,
    scheduler,
    parameters,
    seed,
    edits: edits(),
  });
  return leave(`/scenarios/${made.id}/`);
}

function leave(address) {
  scenario = { ...scenario, edits: edits() }; // the edited list is in `history`
  location.assign(address);
  return LEAVES;
}

/** Conflict with a version saved by somebody else: shows both lists for the operator to choose. */
function conflict(newest) {
  const mine = edits();
  showConflict($('#conflict'), {
    verbs: form.verbs,
    schedulers: form.schedulers,
    theirs: newest,
    mine: { version: scenario.version, edits: mine },
    onCopy: () => alone(copy),
    onTheirs: () => settle(newest, newest.edits),
    onMine: () => {
      settle(newest, mine);
      alone(save);
    },
  });
}

function settle(newest, chosen) {
  $('#conflict').hidden = true;
  scenario = { ...scenario, ...newest };
  saved = '';
  history.change(chosen);
}

const previewSoon = debounce(() => check(), PREVIEW_MS);

/** Checks the edits; where the server cannot be reached, until it can: the buttons wait for it. */
async function check() {
  try {
    await preview();
    if (unchecked) fail(null);
    unchecked = false;
  } catch (error) {
    fail(error);
    unchecked = true;
    if (error.status === 0) setTimeout(() => fresh() || check(), AGAIN_MS);
  }
}

async function preview() {
  const mine = ++asked;
  paint();
  const checked = await own(post(`/api/scenarios/${id}/edits/`, { edits: edits() }));
  if (mine !== asked) return;
  answer = { ...checked, of: edits() };
  paint();
}

/** The answer of the scenario itself; if it was deleted, the error says how to keep the edits. */
function own(request) {
  return request.catch((error) => {
    if (error.status !== 404) throw error;
    gone = true;
    paint();
    throw new Refusal(`${error.message} “Save a copy” keeps the edits that are shown here.`);
  });
}

const typedSoon = debounce(() => previewTyped().catch(() => {}), PREVIEW_MS); // an error shows when it is added

/** The curves with the edit that is being typed. */
async function previewTyped() {
  const given = form.peek();
  const mine = (typed = given && { edits: given, of: edits(), curves: null });
  paint();
  if (!given) return;
  const all =
    form.place === null ? [...edits(), ...given] : edits().map((one, i) => (i === form.place ? given[0] : one));
  const { curves, rows } = await post(`/api/scenarios/${id}/edits/`, { edits: all });
  if (mine !== typed) return;
  if (!rows.some(({ error }) => error)) mine.curves = curves;
  paint();
}

function paint() {
  const current = fresh();
  const shown = typed?.of === edits() && form?.filled ? typed : null;
  paintEdits($('#edits'), {
    edits: edits(),
    rows: current?.rows ?? answer?.rows.filter((_, i) => answer.of[i] === edits()[i]),
    titles: Object.fromEntries((form?.verbs ?? []).map(({ name, title }) => [name, title])),
    nameOf,
    isPast,
    editable: operator,
    ofFork: Boolean(scenario.parent),
    onChange: (list) => history.change(list),
    onPick: (edit, place) => form.change(edit, place),
  });
  setText(
    $('#effect'),
    current
      ? edits().some((edit) => !edit.off)
        ? `Total effect: ${effectWords(current.effect, nameOf).join(', ') || 'none on cluster, jobs or scheduler'}`
        : ''
      : gone
        ? ''
        : 'Checking …',
  );
  $('#whole').hidden = !current?.error;
  setText($('#whole'), current?.error ?? '');
  const to = Math.max(
    scenario.ends_ms ?? 0,
    scenario.fork_ms ?? 0,
    ...[...edits(), ...(shown?.edits ?? [])].map((edit) => edit.at_ms ?? 0),
    answer?.curves?.to_ms ?? 0,
    3_600_000,
  );
  const { horizon_slots: slots, slot_ms: slotMs } = cluster.spec;
  paintStrip($('#strip'), {
    edits: edits(),
    typed: shown?.edits ?? [],
    nameOf,
    from: 0,
    to,
    least: scenario.fork_ms ?? 0,
    ends: slots ? slots * slotMs : null,
    isPast,
    fork: scenario.fork_ms,
    editable: operator,
    onSpan: (fromMs, toMs) => form.span(fromMs, toMs),
    onMove: (place, atMs) => history.change(edits().map((edit, i) => (i === place ? { ...edit, at_ms: atMs } : edit))),
  });
  const curves = shown?.curves ?? current?.curves;
  if (curves) paintCurves($('#curves'), curves, to, Boolean(shown?.curves));
  if (picture && current) paintServers(current);
  if (!operator) return;
  $('#undo').disabled = !history.past.length;
  $('#redo').disabled = !history.future.length;
  const filled = Boolean(form?.filled);
  $('#save').disabled = !(changed() || filled) || wrong() || !current;
  $('#run').disabled = wrong() || !current;
  const compare = scenario.parent ? `Run and compare with run ${scenario.parent}` : 'Run';
  setText($('#save'), filled ? 'Add and save' : 'Save');
  setText($('#run'), filled ? 'Add, save and run' : changed() ? 'Save and run' : compare);
  setText($('#saved'), changed() ? 'Not saved' : saved);
}

function paintServers({ servers, sites }) {
  const all = [
    ...cluster.spec.servers.map(({ name, site }) => ({ name, site })),
    ...Object.entries(sites).map(([name, site]) => ({ name, site })),
  ];
  picture.set(all, servers);
  serversTable($('#as-table'), $('#servers'), all, servers);
}

function choose(names) {
  setText(
    $('#picked'),
    names.length
      ? `${plural(names.length, 'server')} selected: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`
      : 'Click or drag to select servers',
  );
  for (const button of $$('[data-verb]')) button.hidden = !names.length;
  if (names.length) form?.choose(names);
}

const runs = () => paintRuns($('#runs'), scenario, operator, fail);

start().catch(fail);
