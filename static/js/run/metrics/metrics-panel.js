// Metrics of a finished run, as in summary.json.

import { valueOf, valueText } from '../../core/metric-table.js';
import { fill, h, setText } from '../../ui/dom.js';
import { term } from '../../ui/labels/term.js';
import { capital, clock, plural } from '../../util/format.js';

/**
 * [{title, text, help, better}] of the metrics that the run has; worth: whether jobs have a utility.
 * covers: of the API, the phases of metrics that do not cover the whole run.
 */
export function metricCells(table, metrics, decisions, worth, covers = {}) {
  const ofRun = [...table.values()].filter(({ key, scope }) => scope === 'run' && (worth || key !== 'total_utility'));
  const cells = ofRun.flatMap((metric) => cellsOf(partOf(metric, covers[metric.key]), valueOf(metrics, metric.key)));
  return [...cells, ...decisionCells(table, decisions)];
}

/** The row of a metric, with the phases that it covers in its title and definition. */
function partOf(metric, covered) {
  if (!covered) return metric;
  const definition = `${capital(covered.text)}: ${metric.definition}`;
  return { ...metric, title: `${metric.title} ${covered.title}`, definition };
}

/** One cell; one for each site and worker type if the metric is broken down by them. */
function cellsOf({ title, unit, definition, direction }, value) {
  if (value === null) return [];
  if (typeof value !== 'object') return [{ title, text: valueText(value, unit), help: definition, better: direction }];
  return Object.entries(value).flatMap(([site, types]) =>
    Object.entries(types)
      .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
      .map(([type, part]) => ({
        title: `${title}: ${site}, ${type}`,
        text: valueText(part, unit),
        help: definition,
        better: direction,
      })),
  );
}

function decisionCells(table, decisions) {
  if (!decisions?.count) return [];
  const { title, unit, definition, direction } = table.get('decision_p95_ms');
  const help = `${definition} ${plural(decisions.count, 'decision')}; longest ${valueText(decisions.max, unit)}.`;
  return [{ title, text: valueText(decisions.p95, unit), help, better: direction }];
}

/** 'until cancelled at 05:00:00' for a run that did not complete; '' for others. */
export function untilText({ status, sim_ms: simMs }) {
  return status === 'cancelled' || status === 'failed' ? `until ${status} at ${clock(simMs)}` : '';
}

/** True if a run has stored metrics: only finished ones have. */
export const hasMetrics = ({ metrics }) => Object.keys(metrics ?? {}).length > 0;

const drawn = new WeakMap(); // the cells of each list

/**
 * panel: hidden without metrics. until: as 'until cancelled at 05:00:00', for a run that did not complete. covers: as
 * for metricCells.
 * Cells that are drawn already stay, with the focus and the open definition of a reader.
 */
export function paintMetrics(panel, table, metrics, decisions, worth, until = '', covers = {}) {
  const cells = metrics ? metricCells(table, metrics, decisions, worth, covers) : [];
  panel.hidden = !cells.length;
  if (panel.hidden) return;
  setText(panel.querySelector('.muted'), `${until || 'whole run'}: ${plural(cells.length, 'metric')}`);
  const list = panel.querySelector('dl');
  const key = JSON.stringify(cells);
  if (drawn.get(list) === key) return;
  drawn.set(list, key);
  const name = ({ title, help, better }) => term(title, { definition: help, direction: better });
  const box = (cell) => h('div', {}, h('dt', {}, name(cell)), h('dd', {}, cell.text));
  fill(list, cells.map(box));
}
