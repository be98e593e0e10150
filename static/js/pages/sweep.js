// One sweep: its grid as it fills, curves with confidence bands, and its points.

import { get, post } from '../lib/api.js';
import { $, fill, h, setText } from '../lib/dom.js';
import { duration, number, percent, plural, rounded, significant, telling } from '../lib/format.js';
import { table } from '../lib/list.js';
import { cells, named } from '../lib/sweep.js';
import { url } from '../lib/view.js';
import { bands } from '../charts/bands.js';
import { heatmap } from '../charts/heatmap.js';

const AGAIN_MS = 1000;
const MOST_ROWS = 200;
const id = $('main').dataset.sweep;
const FIGURES = {
  total_utility: ['Total utility', significant, 'high'], completed: ['Jobs completed', (n) => number(n, 1), 'high'], rejected: ['Jobs rejected', (n) => number(n, 1), 'low'],
  mean_jct_ms: ['Mean completion time', duration, 'low'], median_jct_ms: ['Median completion time', duration, 'low'], p95_jct_ms: ['95th percentile of completion times', duration, 'low'],
  makespan_ms: ['Makespan', duration, 'low'], suspensions: ['Suspensions', (n) => number(n, 1), 'low'], 'utilization.gpu': ['GPU allocated', (n) => percent(n, 1), 'high'], 'utilization.cpu': ['CPU allocated', (n) => percent(n, 1), 'high'],
};
let answer = null;

async function load() {
  answer = await get(`/api/sweeps/${id}/points/`);
  fail(null);
  paint();
  if (answer.active) setTimeout(() => load().catch(fail), AGAIN_MS);
}

function figure() {
  const asked = url.get('figure');
  const has = (name) => answer.points.some(({ figures }) => figures[name] !== null && figures[name] !== undefined && !(name === 'total_utility' && figures[name] === 0));
  return FIGURES[asked] ? asked : answer.figures.find(has) ?? answer.figures[0];
}

function paint() {
  const { axes, points, total, finished, active, seeds } = answer;
  const name = figure();
  const [title, plain, better] = FIGURES[name];
  const digits = telling(points.map(({ figures }) => figures[name]));
  const text = plain === significant ? (value) => rounded(value, digits) : plain;
  const [acrossNamed, downNamed] = axes.map((axis, n) => named(axis, answer.titles[n]));
  const found = cells(points, name);
  fill($('#about'), h('a', { href: `/scenarios/${answer.scenario}/` }, answer.scenario_name), `, ${answer.scheduler}; ${[acrossNamed, downNamed].filter(Boolean).map((axis) => axis.title).join(' × ')}; ${plural(seeds.length, 'seed')}`);
  setText($('#figure-title'), title);
  $('#progress').value = total ? finished / total : 0;
  const failed = points.filter(({ status }) => status === 'failed').length;
  const stopped = points.filter(({ status }) => status === 'cancelled' || status === 'gone').length;
  setText($('#going'), [`${number(finished, 0)} of ${plural(total, 'run')} finished`, active ? `${number(active, 0)} under way` : '', stopped ? `${number(stopped, 0)} cancelled` : '', failed ? `${number(failed, 0)} failed` : ''].filter(Boolean).join(', '));
  $('#csv').href = `/api/sweeps/${id}/results.csv`;
  if ($('#cancel')) $('#cancel').hidden = !active;
  if ($('#resume')) $('#resume').hidden = !(failed + stopped);
  const [across, down] = axes;
  const box = $('#picture');
  if (!box.childElementCount) fill(box, h('div', { id: 'map' }), h('div', { id: 'curves' }));
  heatmap($('#map'), {
    columns: { ...acrossNamed, values: across.values }, rows: down ? { ...downNamed, values: down.values } : null,
    cell: (i, j) => found.get(down ? `${i},${j}` : `${i}`), text, better, onPick: ({ points: own }) => location.assign(own.length > 1 ? `/compare/?runs=${own.slice(0, 6).map(({ run }) => run).join(',')}` : `/runs/${own[0].run}/`),
  });
  const numeric = across.values.every((value) => typeof value === 'number') && across.values.length > 1;
  $('#curves').hidden = !numeric;
  if (numeric) {
    const curves = (down?.values ?? [null]).map((value, j) => ({
      title: down ? `${downNamed.title} ${downNamed.text(value)}` : '',
      points: across.values.map((x, i) => ({ x, ...found.get(down ? `${i},${j}` : `${i}`) })).filter(({ mean }) => mean !== null && mean !== undefined),
    }));
    bands($('#curves'), { title, unit: '', xTitle: acrossNamed.title, xText: acrossNamed.text, curves, text });
  }
  const rows = points.slice(0, MOST_ROWS);
  setText($('#count'), points.length > rows.length ? `the first ${rows.length} of ${number(points.length, 0)}; the CSV has all` : plural(points.length, 'point'));
  fill($('#points'), table([
    { title: 'Run', cell: ({ run }) => (run ? h('a', { href: `/runs/${run}/` }, `Run ${run}`) : '–') },
    { title: 'State', cell: ({ status }) => status },
    ...axes.map((axis, n) => ({ title: [acrossNamed, downNamed][n].title, number: true, cell: ({ place }) => [acrossNamed, downNamed][n].text(axis.values[place[n]]) })),
    { title: 'Seed', number: true, cell: ({ seed }) => String(seed) },
    { title: title, number: true, cell: ({ figures }) => (figures[name] === null || figures[name] === undefined ? '–' : text(figures[name])) },
  ], rows));
}

function wire() {
  const select = $('#figure');
  fill(select, Object.entries(FIGURES).map(([name, [title]]) => h('option', { value: name }, title)));
  select.value = figure();
  select.addEventListener('change', () => {
    url.set({ figure: select.value });
    paint();
  });
  addEventListener('resize', paint);
  for (const verb of ['cancel', 'resume']) $(`#${verb}`)?.addEventListener('click', () => post(`/api/sweeps/${id}/${verb}/`).then(load).catch(fail));
}

function fail(error) {
  $('#failed').hidden = !error;
  setText($('#failed'), error?.message ?? '');
}

load().then(wire).catch(fail);
