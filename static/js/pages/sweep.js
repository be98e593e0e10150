// One sweep: progress of its grid, curves with confidence bands, and its points.

import { get, post } from '../core/api.js';
import { paintSpeeds } from '../compare/speed-notes.js';
import { metricTable, valueText } from '../core/metric-table.js';
import { watchOverview } from '../core/sockets/overview-socket.js';
import { logError } from '../core/client-errors.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { number, plural, alignedText, telling } from '../util/format.js';
import { rowsOfPage, table } from '../ui/data-table.js';
import { PagePart } from '../ui/failures/page-part.js';
import { pager } from '../ui/pager.js';
import { Poll } from '../util/poll.js';
import { Later } from '../util/throttle.js';
import { cells, named } from '../scenarios/sweep-axes.js';
import { url } from '../ui/address/query.js';
import { bands } from '../charts/confidence-bands.js';
import { heatmap } from '../charts/heatmap.js';
import { connectionBadge } from '../ui/connection-badge.js';

const AGAIN_MS = 1000;
const PAGE_SIZE = rowsOfPage(50);
const id = $('main').dataset.sweep;
let answer = null;
let metrics = null; // the table of metrics
let page = 1; // of the points

async function load() {
  [answer, metrics] = await Promise.all([get(`/api/sweeps/${id}/points/`), metricTable()]);
  if (!$('#figure').options.length) wire();
  paint();
  const { finished, total } = answer;
  poll.outcome = finished === total ? 'complete' : `ended, ${number(finished, 0)} of ${plural(total, 'run')} finished`;
  return answer.active > 0;
}

function figure() {
  const has = (name) => answer.points.some(({ figures }) => (figures[name] ?? null) !== null);
  const first = answer.figures.find(has) ?? answer.figures[0];
  return url.choice('figure', answer.figures, first, `The table shows ${metrics.get(first).title}.`);
}

function paint() {
  const { axes, points, total, finished, active, seeds } = answer;
  const name = figure();
  const { title, unit, direction, definition } = metrics.get(name);
  const values = points.map(({ figures }) => figures[name]);
  const digits = telling(values);
  const most = Math.max(0, ...values.map(Math.abs).filter(Number.isFinite));
  const whole = values.every((value) => !Number.isFinite(value) || Number.isInteger(value));
  const text = (value) => (unit === '' && !whole ? alignedText(value, digits, most) : valueText(value, unit));
  const [acrossNamed, downNamed] = axes.map((axis, n) => named(axis, answer.titles[n], answer.choices[n]));
  const found = cells(points, name);
  fill(
    $('#about'),
    h('a', { href: `/scenarios/${answer.scenario}/` }, answer.scenario_name),
    `, ${answer.scheduler}; ${[acrossNamed, downNamed]
      .filter(Boolean)
      .map((axis) => axis.title)
      .join(' × ')}; ${plural(seeds.length, 'seed')}`,
  );
  setText($('#figure-title'), title);
  $('#figure-title').title = definition;
  $('#unranked').hidden = !answer.unranked;
  setText($('#unranked'), answer.unranked ?? '');
  $('#edited').hidden = !answer.edited;
  setText($('#edited'), answer.edited ?? '');
  paintSpeeds(answer.speeds);
  $('#progress').value = total ? finished / total : 0;
  const failed = points.filter(({ status }) => status === 'failed').length;
  const cancelled = points.filter(({ status }) => status === 'cancelled').length;
  const deleted = points.filter(({ status }) => status === 'deleted').length;
  setText(
    $('#going'),
    [
      `${number(finished, 0)} of ${plural(total, 'run')} finished`,
      active ? `${number(active, 0)} active` : '',
      cancelled ? `${number(cancelled, 0)} cancelled` : '',
      deleted ? `${number(deleted, 0)} deleted` : '',
      failed ? `${number(failed, 0)} failed` : '',
    ]
      .filter(Boolean)
      .join(', '),
  );
  $('#csv').href = `/api/sweeps/${id}/results.csv`;
  if ($('#cancel')) $('#cancel').hidden = !active;
  if ($('#resume')) $('#resume').hidden = !(failed + cancelled + deleted);
  const [across, down] = axes;
  const box = $('#picture');
  if (!box.childElementCount) fill(box, h('div', { id: 'map' }), h('div', { id: 'curves' }));
  heatmap($('#map'), {
    columns: { ...acrossNamed, values: across.values },
    rows: down ? { ...downNamed, values: down.values } : null,
    cell: (i, j) => found.get(down ? `${i},${j}` : `${i}`),
    text,
    better: answer.unranked ? null : direction,
    onPick: ({ points: own }) =>
      location.assign(
        own.length > 1
          ? `/compare/?runs=${own
              .slice(0, 6)
              .map(({ run }) => run)
              .join(',')}`
          : `/runs/${own[0].run}/`,
      ),
  });
  const numeric = across.values.every((value) => typeof value === 'number') && across.values.length > 1;
  $('#curves').hidden = !numeric;
  if (numeric) {
    const curves = (down?.values ?? [null]).map((value, j) => ({
      title: down ? `${downNamed.title}: ${downNamed.text(value)}` : '',
      points: across.values
        .map((x, i) => ({ x, ...found.get(down ? `${i},${j}` : `${i}`) }))
        .filter(({ mean }) => mean !== null && mean !== undefined),
    }));
    bands($('#curves'), {
      title,
      unit,
      xTitle: acrossNamed.title,
      xText: acrossNamed.text,
      curves,
      text,
      seeds: seeds.length,
      complete: finished === total,
    });
  }
  const rows = points.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  $('#points-card').hidden = false; // once the height above it is known
  setText($('#count'), plural(points.length, 'point'));
  const go = (to) => {
    page = to;
    paint();
  };
  fill($('#points-pager'), pager({ page, size: PAGE_SIZE, count: points.length, rows: rows.length }, go));
  fill(
    $('#points'),
    table(
      [
        { title: 'Run', cell: ({ run }) => (run ? h('a', { href: `/runs/${run}/` }, `Run ${run}`) : '–') },
        { title: 'State', cell: ({ status }) => h('span', { class: 'state', 'data-state': status }, status) },
        ...axes.map((axis, n) => ({
          title: [acrossNamed, downNamed][n].title,
          number: true,
          cell: ({ place }) => [acrossNamed, downNamed][n].text(axis.values[place[n]]),
        })),
        { title: 'Seed', number: true, cell: ({ seed }) => String(seed) },
        {
          title,
          number: true,
          cell: ({ figures }) => (figures[name] === null || figures[name] === undefined ? '–' : text(figures[name])),
        },
      ],
      rows,
    ),
  );
}

function wire() {
  const select = $('#figure');
  fill(
    select,
    answer.figures.map((name) => h('option', { value: name }, metrics.get(name).title)),
  );
  select.value = figure();
  select.addEventListener('change', () => {
    url.set({ figure: select.value });
    paint();
  });
  addEventListener('resize', paint);
  for (const verb of ['cancel', 'resume'])
    $(`#${verb}`)?.addEventListener('click', () =>
      post(`/api/sweeps/${id}/${verb}/`).then(() => {
        fail(null);
        return poll.now();
      }, fail),
    );
}

function fail(error) {
  if (error) logError(error);
  $('#failed').hidden = !error;
  const deleted = error?.status === 404 && answer !== null;
  const kept = deleted ? ' This page shows the data that it had already loaded.' : '';
  setText($('#failed'), error ? error.message + kept : '');
  if (!deleted) return;
  for (const selector of ['#csv', '#cancel', '#resume']) if ($(selector)) $(selector).hidden = true;
}

const part = new PagePart('points of the sweep');
const poll = new Poll(load, AGAIN_MS, (/** @type {any} */ error) => {
  if (error?.status === 404) return fail(error);
  part.turn(error);
});
connectionBadge($('#connection'), poll, 'change');
const again = new Later(AGAIN_MS, () => poll.now());
// what has ended is not polled: it tells of deletions
watchOverview(
  ({ type, id: run }) => type === 'deleted' && answer?.points.some((point) => point.run === run) && again.ask(),
  () => poll.ended && again.ask(),
);
poll.now();
