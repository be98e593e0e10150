// One scenario: wires its edits, their effects, its servers and its runs; each panel fails alone.

import { get } from '../core/api.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { $, $$, setText, showPanels } from '../ui/dom.js';
import { inPanel } from '../ui/failures/panel-isolation.js';
import { plural } from '../util/format.js';
import { url } from '../ui/address/query.js';
import { ServerPicture } from '../charts/servers/server-grid.js';
import { paintCurves } from '../charts/edit-curves.js';
import { paintStrip } from '../charts/edit-timeline.js';
import { Draft } from '../scenarios/edits/draft.js';
import { DraftActions } from '../scenarios/edits/draft-actions.js';
import { EditForm } from '../scenarios/edits/edit-form.js';
import { effectWords, paintEdits, wasPlayed } from '../scenarios/edits/edit-list.js';
import { busiest, loadsOf } from '../scenarios/server-loads.js';
import { showConflict } from '../scenarios/edits/edit-conflict.js';
import { paintAbout } from '../scenarios/panels/about.js';
import { noteContinued } from '../scenarios/panels/continued.js';
import { RunList } from '../scenarios/panels/runs.js';
import { serversTable } from '../scenarios/panels/servers-table.js';
import { failureLine } from '../ui/failures/failure-line.js';
import { momentText } from '../util/time-text.js';

const MIN_SPAN_MS = 3_600_000; // of the time axis
const id = Number($('main').dataset.scenario);
const operator = document.body.dataset.role === 'operator';
let draft = null;
let actions = null;
let cluster = null;
let form = null;
let picture = null;
let titles = null; // of the schedulers

const nameOf = (name) => titles?.[name] ?? name;
const isPast = (edit) => wasPlayed(edit, draft.scenario);
const fail = failureLine($('#failed'));
const about = inPanel($('#about'), (found) => paintAbout($('#about'), found));
async function start() {
  const [found, verbs, schedulers] = await Promise.all([
    get(`/api/scenarios/${id}/`),
    get('/api/edits/'),
    operator ? get('/api/schedulers/') : [],
  ]);
  cluster = await get(`/api/clusters/${found.cluster}/`);
  titles = verbs.flatMap(({ parameters }) => parameters).find(({ name }) => name === 'scheduler')?.titles;
  draft = new Draft(found, { onChange: paint, onError: fail });
  setText($('#name'), found.name);
  document.title = `${found.name} · Edge-cloud twin`;
  about(found);
  picture = inPanel($('#servers'), () => new ServerPicture($('#servers'), choose))();
  if (operator) {
    form = inPanel($('#add'), () => editForm(found, verbs, schedulers))();
    const servers = url.get('servers');
    const names = verbs.filter((one) => !one.unavailable).map(({ name }) => name);
    const wanted = url.choice('verb', names, 'drain_servers', 'The form is for draining servers.');
    const verb = verbs.find(({ name }) => name === wanted);
    if (servers && verb) form?.begin(verb, { servers });
    wire();
  }
  await Promise.all([
    draft.preview(),
    inPanel($('#runs'), follow)(),
    inPanel($('#servers'), loads)(),
    inPanel($('#at-the-end'), noteContinued)($('#at-the-end'), found),
  ]);
}

/** The form of an edit, with what depends on the scenario. */
function editForm(found, verbs, schedulers) {
  return new EditForm($('#add'), {
    verbs,
    schedulers,
    training: found.parameters.model,
    leastMs: found.fork_ms ?? 0,
    laterMs: cluster.spec.slot_ms,
    wholeTitle: found.fork_ms === null ? '0 is the start of the run' : `${momentText(found.fork_ms)} or later`,
    onDone: (given, place) => {
      draft.put(given, place);
      form.reset();
    },
    onFilled: () => paint(),
    onInput: () => draft.typedSoon(typed),
  });
}

/** Lists the runs and follows them; a fork is compared with its parent as long as there is one. */
async function follow() {
  const list = new RunList($('#runs'), () => draft.scenario, operator, fail);
  const orphaned = () => {
    draft.update({ parent: null });
    about(draft.scenario);
    paint();
  };
  const { parent } = draft.scenario;
  const look = () => parent && get(`/api/scenarios/${id}/`).then((newest) => newest.parent ?? orphaned(), fail);
  watchOverview(
    (message) => {
      if (parent && message.type === 'deleted' && message.id === draft.scenario.parent) orphaned();
      list.hear(message);
    },
    () => {
      list.later.ask();
      look();
    },
  );
  await list.load().catch(fail);
}

/** Colours the servers by what was allocated at the fork, so that the busiest can be selected. */
async function loads() {
  if (!draft.scenario.parent) return;
  const answer = await get(`/api/scenarios/${id}/loads/`).catch(fail);
  if (!answer) return;
  const found = loadsOf(answer);
  picture?.setLoads(found);
  if (!operator || !busiest(found, 1).length) return;
  const count = $('#busiest-count');
  count.max = String(busiest(found, found.size).length); // idle servers are not among them
  $('#busiest').hidden = false;
  $('#busiest button').addEventListener('click', () => {
    if (count.reportValidity()) picture?.choose(busiest(found, Number(count.value)));
  });
}

function wire() {
  for (const button of $$('[data-verb]'))
    button.addEventListener('click', () => {
      if (!form) return; // its panel says why
      const verb = form.verbs.find(({ name }) => name === button.dataset.verb);
      form.begin(verb, { servers: [...(picture?.chosen ?? [])].join(' '), at_ms: form.momentOf() ?? undefined });
      $('#add').scrollIntoView({ block: 'nearest' });
      $('#add [data-parameter]:not([data-parameter="servers"])')?.focus();
    });

  $('#undo').addEventListener('click', () => draft.history.undo());
  $('#redo').addEventListener('click', () => draft.history.redo());
  addEventListener('keydown', (event) => {
    if (
      !(event.ctrlKey || event.metaKey) ||
      event.key.toLowerCase() !== 'z' ||
      /** @type {Element} */ (event.target).closest('input, select, textarea')
    )
      return;
    event.preventDefault();
    if (event.shiftKey) draft.history.redo();
    else draft.history.undo();
  });
  actions = new DraftActions(draft, { take: () => !form || form.take(), onConflict: conflict, onError: fail });
  $('#save').addEventListener('click', () => actions.save());
  $('#run').addEventListener('click', () => actions.saveAndRun());
  $('#copy').addEventListener('click', () => actions.copy());
  $('#sweep').addEventListener('click', () => location.assign(`/sweeps/?scenario=${id}`));
  addEventListener('online', () => draft.retry());
  addEventListener('beforeunload', (event) => (draft.changed || form?.filled) && event.preventDefault());
}

/** The input in the form as edits, and the place of the edit that it changes; null without one. */
function typed() {
  const edits = form?.peek();
  return edits && { edits, place: form.place };
}

/** Conflict with a version saved by somebody else: shows both lists for the operator to choose. */
function conflict(newest) {
  const mine = draft.edits;
  showConflict($('#conflict'), {
    verbs: form?.verbs ?? [],
    schedulers: form?.schedulers ?? [],
    theirs: newest,
    mine: { version: draft.scenario.version, edits: mine },
    onCopy: () => actions.copy(),
    onTheirs: () => settle(newest, newest.edits),
    onMine: () => {
      settle(newest, mine);
      actions.save();
    },
  });
}

function settle(newest, chosen) {
  $('#conflict').hidden = true;
  draft.settle(newest, chosen);
}

const panels = [
  inPanel($('#edits'), paintList),
  inPanel($('#effect'), paintEffect),
  inPanel($('#strip'), () => paintTimes()),
  inPanel($('#curves'), () => {
    const curves = shown()?.curves ?? draft.checked?.curves;
    if (curves) paintCurves($('#curves'), curves, lastMs(), Boolean(shown()?.curves));
  }),
  inPanel($('#servers'), () => picture && draft.checked && paintServers(draft.checked)),
];

function paint() {
  for (const panel of panels) panel();
  if (operator) paintActions();
}

/** The edits in the form as long as it is filled, with their effect. */
function shown() {
  return form?.filled ? draft.typed : null;
}

function paintList() {
  paintEdits($('#edits'), {
    edits: draft.edits,
    rows: draft.rows,
    titles: Object.fromEntries((form?.verbs ?? []).map(({ name, title }) => [name, title])),
    nameOf,
    isPast,
    editable: operator,
    ofFork: Boolean(draft.scenario.parent),
    onChange: (list) => draft.change(list),
    onPick: (edit, place) => form?.change(edit, place),
  });
}

function paintEffect() {
  const { edits, checked: current } = draft;
  $('#whole').hidden = !current?.error;
  setText($('#whole'), current?.error ?? '');
  const effect = () => effectWords(current.effect, nameOf).join(', ') || 'none on cluster, jobs or scheduler';
  if (current) setText($('#effect'), edits.some((edit) => !edit.off) ? `Total effect: ${effect()}` : '');
  else setText($('#effect'), draft.gone ? '' : 'Checking …');
}

/** End of the time axis of the strip and of the curves. */
function lastMs() {
  const { edits, scenario } = draft;
  return Math.max(
    scenario.ends_ms ?? 0,
    scenario.fork_ms ?? 0,
    ...[...edits, ...(shown()?.edits ?? [])].map((edit) => edit.at_ms ?? 0),
    draft.curvesEndMs,
    MIN_SPAN_MS,
  );
}

function paintTimes() {
  const { edits, scenario } = draft;
  const { horizon_slots: slots, slot_ms: slotMs } = cluster.spec;
  paintStrip($('#strip'), {
    edits,
    typed: shown()?.edits ?? [],
    nameOf,
    from: 0,
    to: lastMs(),
    least: scenario.fork_ms ?? 0,
    ends: slots ? slots * slotMs : null,
    isPast,
    fork: scenario.fork_ms,
    editable: operator,
    onSpan: (fromMs, toMs) => form?.span(fromMs, toMs),
    onMove: (place, atMs) => draft.change(edits.map((edit, i) => (i === place ? { ...edit, at_ms: atMs } : edit))),
  });
}

new ResizeObserver(() => draft?.scenario && cluster && paintTimes()).observe($('#strip'));

/** Buttons, and what they would do now. */
function paintActions() {
  const { scenario, checked: current } = draft;
  $('#undo').disabled = !draft.history.past.length;
  $('#redo').disabled = !draft.history.future.length;
  const filled = Boolean(form?.filled);
  $('#save').disabled = !(draft.changed || filled) || draft.wrong || !current;
  $('#run').disabled = draft.wrong || !current;
  const unsaved = filled
    ? 'Not saved; Save and Run first add the edit in the form'
    : draft.changed
      ? 'Not saved; Run saves the edits first'
      : draft.saved;
  const after = scenario.parent ? `Run opens the comparison with run ${scenario.parent}` : '';
  setText($('#saved'), [unsaved, after].filter(Boolean).join('. '));
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
  if (!operator) return;
  setText(
    $('#picked'),
    names.length
      ? `${plural(names.length, 'server')} selected: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ' …' : ''}`
      : 'Click or drag to select servers',
  );
  for (const button of $$('[data-verb]')) button.hidden = !names.length;
  if (names.length) form?.choose(names);
}

start()
  .catch(fail)
  .finally(() => showPanels('data-starting'));
