// Heading and progress of a sweep: what it varies, notes on it, and how many of its runs have finished.

import { paintSpeeds } from '../compare/speed-notes.js';
import { $, fill, h, setText } from '../ui/dom.js';
import { number, plural } from '../util/format.js';

/** The sentence below the name of the sweep. */
export function paintAbout(box, { scenario, scenario_name: name, scheduler, seeds }, { axes }) {
  const varied = axes.map(({ title }) => title).join(' × ');
  fill(
    box,
    h('a', { href: `/scenarios/${scenario}/` }, name),
    `, ${scheduler}; ${varied}; ${plural(seeds.length, 'seed')}`,
  );
}

/** Notes above the grid, for the metric shown. */
export function paintNotes({ unranked, unranked_figures: single, edited, speeds }, { metric }) {
  for (const [selector, text] of [
    ['#unranked', unranked ?? single[metric.key]],
    ['#edited', edited],
  ]) {
    $(selector).hidden = !text;
    setText($(selector), text ?? '');
  }
  paintSpeeds(speeds);
}

/** id: of the sweep. */
export function paintProgress(id, { points, total, finished, active }) {
  const [failed, cancelled, deleted] = ['failed', 'cancelled', 'deleted'].map(
    (name) => points.filter(({ status }) => status === name).length,
  );
  $('#progress').value = total ? finished / total : 0;
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
}
