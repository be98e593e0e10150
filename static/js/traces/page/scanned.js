// A trace that was scanned: what was found in it, charts of its jobs, and the form that selects what is imported.

import { Arrivals } from '../../charts/traces/arrivals.js';
import { Sizes } from '../../charts/traces/job-sizes.js';
import { $, fill, h } from '../../ui/dom.js';
import { numbersButton } from '../../ui/table-toggle.js';
import { Tip, tipElement } from '../../ui/tooltip.js';
import { duration, number, plural } from '../../util/format.js';
import { chooseForm } from '../import-form.js';
import { found, skippedTotal, tiles } from '../import-report.js';
import { readingForm } from '../reading-form.js';
import { paintRows, warnings } from './rows.js';

const charts = { arrivals: null, sizes: null };

/** Wires the controls of the charts, once. */
export function wireCharts() {
  numbersButton('arrivals', () => charts.arrivals.table());
  numbersButton('sizes', () => charts.sizes.table());
  $('#sizes-log').addEventListener('click', ({ currentTarget: button }) => {
    const on = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(on));
    charts.sizes.setLog(on);
  });
}

/** page: {operator, formats, load()}. */
export function paintScan(trace, { operator, formats, load }) {
  const { scan } = trace;
  const { report } = scan;
  fill(
    $('#status'),
    scan.refused ? h('p', { class: 'notice bad', role: 'alert' }, scan.refused) : null,
    h(
      'p',
      {},
      `${found(report, scan.jobs, scan.servers)}. `,
      h('span', { class: 'muted' }, 'Nothing has been imported yet.'),
    ),
    warnings(report),
    before(trace.earlier),
  );
  tiles($('#tiles'), [
    ['Rows read', number(report.rows, 0)],
    ['Jobs', number(scan.jobs, 0)],
    ['Servers', number(scan.servers, 0)],
    ['Skipped', number(skippedTotal(report), 0)],
    ...(scan.run_ms
      ? [
          ['Run time, median', duration(scan.run_ms.median)],
          ['Run time, 95th percentile', duration(scan.run_ms.p95)],
          ['Run time, maximum', duration(scan.run_ms.most)],
        ]
      : []),
  ]);
  let form = null;
  paintCharts(scan, operator ? (from, to) => form.setWindow(from, to) : null);
  if (operator)
    form = chooseForm(trace, { onWindow: (from, to) => charts.arrivals?.setWindow(from, to), onDone: load });
  for (const place of ['#choice', '#choice-bar', '#reading', '#select-hint']) if ($(place)) $(place).hidden = !operator;
  if (operator) {
    fill($('#choice-form'), form.element);
    fill($('#choice-bar'), form.bar);
    $('#reading').open = Boolean(report.warnings?.length);
    fill($('#reading-form-place'), readingForm(trace, formats, load));
  }
  paintRows(report, scan.preview, scan.jobs, 'These files list servers, not jobs.');
}

/** Charts of the jobs that were found in the files; onSelect(from, to) after a window was dragged, null for none. */
function paintCharts(scan, onSelect) {
  if (!scan?.jobs) return;
  charts.arrivals = drawn(
    'arrivals',
    charts.arrivals,
    (canvas, tip) => new Arrivals(canvas, tip, scan.arrivals, onSelect),
  );
  const unit = scan.gpus ? 'GPU' : 'worker';
  const sizes = scan.gpus ?? scan.workers;
  $('#panel-sizes').hidden = !sizes;
  $('#panel-sizes h2').textContent = `Jobs by ${unit}s`;
  if (sizes) charts.sizes = drawn('sizes', charts.sizes, (canvas, tip) => new Sizes(canvas, tip, sizes, unit));
}

/** The same charts of a trace that was imported, with the window that was selected. */
export function paintImported(/** @type {any} */ { scan, options = {} }) {
  paintCharts(scan, null);
  if ($('#select-hint')) $('#select-hint').hidden = true;
  const [from, to] = [options.from_ms ?? null, options.to_ms ?? null];
  for (const note of ['#imported', '#of-files']) $(note).hidden = false;
  $('#imported-window').hidden = from === null && to === null;
  charts.arrivals?.setWindow(from, to);
}

/** Earlier imports of the same files, so that nobody imports them twice by mistake. */
function before(earlier = []) {
  if (!earlier.length) return null;
  const links = earlier.flatMap(({ id: other, name, job_count: jobs }) => [
    ', ',
    h('a', { href: `/traces/${other}/` }, `trace ${other} (${name}, ${plural(jobs, 'job')})`),
  ]);
  return h(
    'p',
    { class: 'notice' },
    'These files have already been imported: ',
    links.slice(1),
    '. A different selection creates another trace.',
  );
}

/** A chart on a new canvas, so that nothing of an earlier one remains. */
function drawn(name, before, make) {
  before?.destroy();
  const hints = {
    arrivals:
      'Arrivals over time; the Table button shows the same numbers. Arrow keys move the selected ' +
      'window; with Shift they move its end',
    sizes: 'Jobs by size; the Table button shows the same numbers',
  };
  const canvas = h('canvas', { id: name, tabindex: 0, role: 'img', 'aria-label': hints[name] });
  const tip = tipElement();
  fill($(`#plot-${name}`), canvas, tip);
  return make(canvas, new Tip(tip));
}
