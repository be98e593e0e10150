// Ranking of the compared runs by one metric: bars, best first; and the trade-off of waiting against utilization.

import { paretoChart } from '../charts/pareto.js';
import { valueText } from '../core/metric-table.js';
import { runLabel } from '../core/run-info.js';
import { fill, h } from '../ui/dom.js';
import { url } from '../ui/address/query.js';
import { numbersButton } from '../ui/table-toggle.js';
import { number, plural } from '../util/format.js';
import { alike } from './comparison.js';
import { runMark } from './metrics-table.js';

const SPREADS = { mean_jct_ms: 'jct_ms', mean_delay_factor: 'delay_factor' }; // metric -> distribution over the jobs
const COSTS = ['mean_wait_ms', 'mean_jct_ms']; // the first that all runs have
const MIDDLE = [25, 75]; // per cent of the jobs

/** The metrics by which at least two runs can be ranked. */
export const rankable = (answer) =>
  answer.metrics.filter((row) => row.direction && row.values.filter(hasRank).length > 1);

const hasRank = ({ value, ranked }) => value !== null && ranked !== false;

/** [{ index, value, rank }] of the runs with a value, best first; equal values share a rank. */
export function ranked({ values, direction, unit }) {
  const sign = direction === 'higher' ? -1 : 1;
  const found = values
    .map((cell, index) => ({ ...cell, index }))
    .filter(hasRank)
    .sort((a, b) => sign * (a.value - b.value) || a.index - b.index);
  let rank = 0;
  return found.map(({ index, value }, place) => {
    if (!place || !alike(value, found[place - 1].value, unit)) rank = place + 1;
    return { index, value, rank };
  });
}

/** Positions of the points that no other point beats: lower x and higher y are better. */
export function front(points) {
  const order = points.map((_, i) => i).sort((a, b) => points[a].x - points[b].x || points[b].y - points[a].y);
  let best = -Infinity;
  return order.filter((i) => {
    if (points[i].y <= best) return false;
    best = points[i].y;
    return true;
  });
}

/** The two metrics of the trade-off with a point for each run that has both; null with fewer than two points. */
export function tradeOff(answer) {
  const by = new Map(answer.metrics.map((row) => [row.key, row]));
  const has = (row) => row?.values.every(hasRank);
  const y = answer.metrics.find((row) => row.key.startsWith('utilization.') && has(row));
  const x = COSTS.map((key) => by.get(key)).find(has);
  if (!x || !y || answer.runs.length < 2) return null;
  return { x, y, points: answer.runs.map((_, i) => ({ x: x.values[i].value, y: y.values[i].value })) };
}

/** The panel; metric: the key that is selected; onChange(key). */
export class Ranking {
  constructor(panel, { metric, onChange }) {
    this.panel = panel;
    this.metric = metric;
    this.select = panel.querySelector('select');
    this.select.addEventListener('change', () => {
      this.metric = this.select.value;
      onChange(this.metric);
      this.paint(this.answer);
    });
    numbersButton('ranking', () => this.#table());
  }

  paint(answer) {
    this.answer = answer;
    const metrics = rankable(answer);
    this.panel.hidden = !metrics.length;
    if (!metrics.length) return;
    if (this.metric && !metrics.some(({ key }) => key === this.metric)) {
      url.refuse('rank', `must be one of ${metrics.map(({ key }) => key).join(', ')}`, 'The first metric is ranked.');
      this.metric = null;
    }
    const row = metrics.find(({ key }) => key === this.metric) ?? metrics[0];
    fill(
      this.select,
      metrics.map(({ key, title }) => h('option', { value: key, selected: key === row.key }, title)),
    );
    const places = ranked(row);
    const middles = this.#middles(row.key);
    const most = Math.max(...places.map(({ value }) => value), ...middles.map((ends) => ends?.[1] ?? 0), 0);
    fill(
      this.panel.querySelector('#ranking'),
      places.map((place) => this.#bar(row, place, most, middles[place.index], places)),
    );
    this.#note(row, places, middles);
    const of = tradeOff(answer);
    const box = this.panel.querySelector('#trade-off');
    box.hidden = !of;
    if (of) fill(box, paretoChart(of, front(of.points), answer.runs));
  }

  #note({ definition, direction }, places, middles) {
    const missing = this.answer.runs.length - places.length;
    const parts = [
      definition,
      direction === 'higher' ? 'Higher is better.' : 'Lower is better.',
      middles.some(Boolean) ? 'The line through a bar spans the middle half of the jobs.' : '',
      missing
        ? `${number(missing, 0)} of ${plural(this.answer.runs.length, 'run')} cannot be ranked by this metric.`
        : '',
    ];
    this.panel.querySelector('#ranking-note').textContent = parts.filter(Boolean).join(' ');
  }

  /** Ends, for each run, of the middle half of its jobs, where the metric is a mean over them. */
  #middles(key) {
    const curves = this.answer.distributions.find((one) => one.key === SPREADS[key])?.curves ?? [];
    return this.answer.runs.map((_, i) => (curves[i]?.jobs ? MIDDLE.map((at) => curves[i].values[at]) : null));
  }

  #bar({ unit }, { index, value, rank }, most, middle, places) {
    const run = this.answer.runs[index];
    const share = (amount) => `${most > 0 ? Math.max(0, (100 * amount) / most) : 0}%`;
    const first = rank === 1 && places.some((place) => place.rank > 1);
    return h(
      'li',
      { class: first ? 'first' : null, 'data-run': run.id },
      h('span', { class: 'rank' }, String(rank)),
      h(
        'a',
        { href: `/runs/${run.id}/`, title: `${run.name}, on ${run.cluster}, seed ${run.seed}` },
        index < this.answer.in_full.length ? runMark(index) : null,
        runLabel(run),
      ),
      h(
        'span',
        { class: 'track', 'aria-hidden': 'true' },
        h('span', { class: 'fill', css: { width: share(value) } }),
        middle
          ? h('span', {
              class: 'middle',
              css: { left: share(middle[0]), width: share(middle[1] - middle[0]) },
            })
          : null,
      ),
      h('span', { class: 'number' }, valueText(value, unit)),
    );
  }

  #table() {
    const row = rankable(this.answer).find(({ key }) => key === this.select.value);
    const middles = this.#middles(row.key);
    const of = tradeOff(this.answer);
    const extra = of ? [of.x, of.y] : [];
    const places = ranked(row);
    return {
      head: [
        'Run',
        'Rank',
        row.title,
        '25th percentile of jobs',
        '75th percentile of jobs',
        ...extra.map(({ title }) => title),
      ],
      rows: places.map(({ index, value, rank }) => [
        runLabel(this.answer.runs[index]),
        String(rank),
        valueText(value, row.unit),
        ...MIDDLE.map((_, end) => valueText(middles[index]?.[end] ?? null, row.unit)),
        ...extra.map((metric) => valueText(metric.values[index].value, metric.unit)),
      ]),
      total: places.length,
    };
  }
}
