// Sweeps: a form with one or two axes, and the list.

import { get, post, remove } from '../core/api.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { logError } from '../core/client-errors.js';
import { confirmed } from '../ui/confirm.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { number, plural, wall } from '../util/format.js';
import { DataTable, empty, shown } from '../ui/data-table.js';
import { editFieldTitle, exampleValues, named, parseValues, valuesText } from '../scenarios/sweep-axes.js';
import { PagePart } from '../ui/failures/page-part.js';
import { url } from '../ui/address/query.js';
import { Later } from '../util/throttle.js';

const ABOUT = 'A sweep runs a scenario with several values of its settings, to show what they change.';
const FOLLOW_MS = 2000; // at most one request for the list in this time
const operator = document.body.dataset.role === 'operator';
const columns = [
  { title: 'Sweep', value: (s) => s.name, cell: (s) => h('a', { href: `/sweeps/${s.id}/` }, s.name) },
  {
    title: 'Scenario',
    value: (s) => s.scenario_name,
    cell: (s) => h('a', { href: `/scenarios/${s.scenario}/` }, s.scenario_name),
  },
  {
    title: 'Axes',
    wide: true,
    cell: (s) =>
      s.axes
        .map((axis, i) => `${s.titles[i]}: ${valuesText(axis.values, named(axis, '', s.choices[i]).text)}`)
        .join('; '),
  },
  {
    title: 'Finished runs',
    value: (s) => s.finished,
    number: true,
    cell: (s) => `${number(s.finished, 0)} of ${number(s.total, 0)}`,
  },
  {
    title: 'Started',
    value: (s) => s.created_at,
    cell: (s) => h('span', { class: 'muted nowrap' }, wall(s.created_at)),
  },
  {
    title: '',
    cell: (s) =>
      operator ? h('button', { type: 'button', class: 'quiet danger', onclick: () => leave(s) }, 'Delete') : '',
  },
];

const sweepTable = new DataTable($('#list'), { name: 'sweeps', columns });

async function list() {
  const page = await get('/api/sweeps/?size=100');
  setText($('#count'), shown(page.results.length, page.count, page.count === 1 ? 'sweep' : 'sweeps'));
  sweepTable.paint(page.results, {
    none: operator
      ? empty('No sweeps yet', ABOUT, ['Choose a scenario', '#new'])
      : empty('No sweeps yet', `${ABOUT} Operators start them.`, ['Show the overview', '/']),
  });
}

async function leave(sweep) {
  const runs = plural(sweep.total, 'run');
  if (!(await confirmed(`Delete sweep ${sweep.name} with its ${runs} and their logs?`, 'Delete'))) return;
  $('#list-error')?.remove();
  try {
    await remove(`/api/sweeps/${sweep.id}/`);
    await list();
  } catch (error) {
    logError(error);
    $('#list').before(h('p', { class: 'error', id: 'list-error', role: 'alert' }, error.message));
    if (error.status === 404) await list().catch(failList); // somebody else has deleted it
  }
}

function failList(error) {
  logError(error);
  fill($('#list'), h('p', { class: 'error', role: 'alert' }, error.message));
}

async function form() {
  const paths = ['/api/schedulers/', '/api/edits/', '/api/scenarios/?size=500'];
  const [schedulers, verbs, scenarios] = await new PagePart('form for a new sweep').first($('#new'), () =>
    Promise.all(paths.map((path) => get(path))),
  );
  const box = $('#new');
  if (!scenarios.results.length)
    return fill(box, empty('No scenarios yet', 'A sweep needs a scenario.', ['Create a scenario', '/scenarios/']));
  const [first] = scenarios.results;
  const known = scenarios.results.map(({ id }) => String(id));
  const wanted = Number(url.choice('scenario', known, String(first.id), `The scenario ${first.name} is selected.`));
  const scenario = h(
    'select',
    { id: 's-scenario' },
    scenarios.results.map((s) => h('option', { value: s.id, selected: s.id === wanted }, s.name)),
  );
  const axes = [axis(1), axis(2)];
  const seeds = h('input', {
    id: 's-seeds',
    value: '',
    placeholder: "the scenario's own",
    'aria-describedby': 's-seeds-help',
  });
  const name = h('input', { id: 's-name', maxlength: 200, placeholder: 'named after the scenario' });
  const points = h('span', { class: 'muted small', role: 'status' });
  const errorLine = h('p', { class: 'error wide', role: 'alert', hidden: true });
  const start = h('button', { class: 'primary', id: 'start' }, 'Start sweep');
  addEventListener('pageshow', () => (start.disabled = false)); // also where Back shows the page as it was left
  const labelled = (title, control, help, id) =>
    h(
      'div',
      { class: 'field' },
      h('label', { for: control.id }, title),
      control,
      help?.nodeType ? help : help ? h('span', { class: 'help', id }, help) : null,
    );
  const declaredOf = (what) => {
    const chosen = scenarios.results.find((s) => s.id === Number(scenario.value));
    const [kind, first, second] = what.split(':');
    return kind === 'p'
      ? schedulers.find((s) => s.name === chosen.scheduler).parameters.find((p) => p.name === first)
      : verbs.find((v) => v.name === chosen.edits[first - 1].verb)?.parameters.find((p) => p.name === second);
  };
  const explain = () => {
    for (const { what, values, help } of axes) {
      values.closest('.field').hidden = !what.value; // a second axis that is not wanted has no values
      setText(help, what.value ? `Such as ${exampleValues(declaredOf(what.value))}` : '');
    }
  };
  const sync = () => {
    const chosen = scenarios.results.find((s) => s.id === Number(scenario.value));
    const declared = schedulers.find((s) => s.name === chosen.scheduler).parameters;
    for (const { what, optional } of axes) {
      const before = what.value;
      fill(
        what,
        optional ? h('option', { value: '' }, 'none') : null,
        declared.map((p) => h('option', { value: `p:${p.name}` }, `${p.title}${p.unit ? `, ${p.unit}` : ''}`)),
        chosen.edits.map((edit, i) =>
          Object.keys(edit)
            .filter((key) => key !== 'verb' && key !== 'off')
            .map((key) => h('option', { value: `e:${i + 1}:${key}` }, editFieldTitle(verbs, edit.verb, i + 1, key))),
        ),
      );
      if ([...what.options].some((o) => o.value === before)) what.value = before;
    }
    explain();
    counted();
  };
  const read = () =>
    axes
      .filter(({ what }) => what.value)
      .map(({ what, values: typed }) => {
        const [kind, first, second] = what.value.split(':');
        const values = parseValues(typed.value, exampleValues(declaredOf(what.value)));
        return kind === 'p' ? { parameter: first, values } : { edit: Number(first), field: second, values };
      });
  const counted = () => {
    try {
      const own = seeds.value.trim() ? parseValues(seeds.value).length : 1;
      setText(
        points,
        `${plural(
          read().reduce((n, { values }) => n * values.length, own),
          'run',
        )} in total`,
      );
    } catch (error) {
      setText(points, error.message);
    }
  };
  scenario.addEventListener('change', sync);
  box.addEventListener('input', () => {
    errorLine.hidden = true; // it was about the values of before
    explain();
    counted();
  });
  fill(
    box,
    labelled('Scenario', scenario),
    axes.map(({ what, values, help }, i) => [
      labelled(i ? 'Second axis' : 'First axis', what),
      labelled(i ? 'Values of the second axis' : 'Values of the first axis', values, help),
    ]),
    labelled(
      'Seeds',
      seeds,
      'One run per seed, for example 0..4 by 1. Deterministic schedulers give equal runs.',
      's-seeds-help',
    ),
    labelled('Name', name),
    h('div', { class: 'wide bar' }, start, points),
    errorLine,
  );
  box.addEventListener('submit', async (event) => {
    event.preventDefault();
    errorLine.hidden = true;
    start.disabled = true; // a second click would start a second sweep
    try {
      const made = await post('/api/sweeps/', {
        scenario: Number(scenario.value),
        name: name.value,
        axes: read(),
        seeds: seeds.value.trim() ? parseValues(seeds.value) : [],
      });
      location.assign(`/sweeps/${made.id}/`);
    } catch (error) {
      start.disabled = false;
      errorLine.hidden = false;
      setText(errorLine, error.message);
      setText(points, ''); // it may say the same
    }
  });
  return sync();
}

function axis(n) {
  return {
    what: h('select', { id: `s-what-${n}` }),
    values: h('input', { id: `s-values-${n}`, 'aria-describedby': `s-values-${n}-help` }),
    help: h('span', { class: 'help', id: `s-values-${n}-help` }),
    optional: n > 1,
  };
}

const part = new PagePart('list of sweeps');
const later = new Later(FOLLOW_MS, () => part.load(list(), () => later.ask()));
part.first($('#list'), list).catch(failList);
watchOverview(
  ({ type }) => type !== 'trace' && later.ask(),
  () => later.ask(),
);
if (operator) form().catch((error) => fill($('#new'), h('p', { class: 'error' }, error.message)));
