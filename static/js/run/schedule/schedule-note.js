// Note below a schedule: which of its rows are in view, by what they are shaded, and how to see single bars.

import { rowsInView } from '../../gantt/rows-in-view.js';
import { plural } from '../../util/format.js';

const ALLOCATED = 'allocated share of the most allocated resource of each row';
const MACHINES = 'shaded by the higher utilization of CPU and network of each machine; zoom in for single groups.';
const HINTS = /; (?:press \+|zoom in) [^.;]*/; // what to do on the page, of no use in a picture of the schedule
const WORKERS = 'number of workers relative to its maximum in the row';

/** Measure that the shaded rows of a schedule are shaded by. @param {any} gantt */
function shadedBy({ frame, rows }) {
  const shaded = frame.views.filter(({ how }) => how === 'shade').map(({ row }) => row);
  const relative = shaded.filter((row) => !rows.serversOf(row).length).length;
  if (!relative) return ALLOCATED;
  return relative === shaded.length ? WORKERS : `${ALLOCATED}, or, in rows without a capacity, the ${WORKERS}`;
}

/**
 * The note below a schedule, and whether its shades need a scale.
 *
 * @param {any} gantt
 * @returns {{text: string, scale: boolean}}
 */
export function scheduleNote(gantt) {
  const { text, scale } = detailNote(gantt);
  return { text: [text, rowsInView(gantt)].filter(Boolean).join(' '), scale };
}

/**
 * [text, whether it is a hint on what to do] of each part of a note.
 *
 * @param {string} text
 * @returns {[string, boolean][]}
 */
export function noteParts(text) {
  const found = HINTS.exec(text);
  if (!found) return text ? [[text, false]] : [];
  const [before, after] = [text.slice(0, found.index), text.slice(found.index + found[0].length)];
  return [[before, false], [found[0], true], ...noteParts(after)];
}

/** Note on what is drawn in the rows, and whether its shades need a scale. */
function detailNote(gantt) {
  const { frame } = gantt;
  if (gantt.layer('site-use')?.inRows(frame))
    return { text: 'CPU above, network below: used share of the machines of the site.', scale: true };
  const shaded = gantt.layer('group-bands')?.shaded;
  if (shaded)
    return { text: `${plural(shaded, 'group')} in view, too narrow to show singly: ${MACHINES}`, scale: true };
  const taller = frame.tallest ? '' : '; press + for taller rows';
  if (frame.detail === 'shade') {
    const count = frame.inView;
    // runs with groups have no bars while jobs run in groups
    if (!count && frame.store?.groups.length) return { text: '', scale: false };
    const [why, more] = frame.low ? [', rows too short for single bars', taller] : ['', '; zoom in for single bars'];
    const text = count
      ? `${plural(count, 'bar')} in view${why}: shaded by the ${shadedBy(gantt)}${more}.`
      : 'No bars in these rows in this interval, as known at the time shown.';
    return { text, scale: true };
  }
  if (frame.low) {
    const [are, show] = frame.low === 1 ? ['is', 'shows'] : ['are', 'show'];
    const why = `${plural(frame.low, 'row')}, marked in grey beside the name, ${are} too short for single bars`;
    return { text: `${why} and ${show} the ${shadedBy(gantt)}${taller}.`, scale: true };
  }
  const notes = [
    frame.narrow &&
      'Most bars in view are narrower than a pixel and are drawn one pixel wide; zoom in to see their lengths.',
    frame.hidesPs && 'Parameter servers are hidden in rows that are too short; press + to show them.',
  ];
  return { text: notes.filter(Boolean).join(' '), scale: false };
}
