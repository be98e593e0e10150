// Controls above the schedules of compared runs: order of the rows, colours, filter, height and zoom.

import { DIFFERENCE_TYPES, kindText, kindWord } from './comparison.js';
import { kindMark } from './differences.js';
import { wireRows } from '../gantt/row-controls.js';
import { marksOf, paintMarks } from '../run/schedule/gantt-legend.js';
import { url } from '../ui/address/query.js';
import { $, debounce, fill, h, setText } from '../ui/dom.js';
import { numbersButton } from '../ui/table-toggle.js';

/**
 * Connects the buttons and the filter above the schedules.
 *
 * @param {import('./stacked-gantts.js').Gantts} gantts
 * @param {import('../core/ranges/time-range.js').View} view
 * @param {Record<string, string>} kinds titles of the kinds of difference
 * @param {string} usual default order of the rows; the address leaves it out
 * @returns {() => void} shows what is chosen, and the legend of the schedules that have been loaded
 */
export function wireSchedules(gantts, view, kinds, usual) {
  const orders = { servers: $('#by-servers'), jobs: $('#by-jobs') };
  const colors = { kind: $('#color-kind'), job: $('#color-job') };
  const showNote = debounce(() => {
    const { text, scale } = gantts.note;
    setText($('#gantts-detail'), text);
    $('#gantts-shade').hidden = !scale;
    placeKeys(gantts);
  }, 200);
  gantts.onDetail = showNote;
  const show = () => {
    for (const [name, button] of Object.entries(orders))
      button.setAttribute('aria-pressed', String(gantts.order === name));
    for (const [name, button] of Object.entries(colors))
      button.setAttribute('aria-pressed', String((name === 'kind') === gantts.byKind));
    placeKeys(gantts);
    paintMarks(
      $('#gantts-marks'),
      gantts.list.flatMap(({ info, store }) => marksOf(info, gantts.order, store)),
    );
    showNote();
  };
  for (const [name, button] of Object.entries(orders))
    button.addEventListener('click', () => {
      gantts.setOrder(name);
      url.set({ rows: name === usual ? '' : name });
      show();
    });
  for (const [name, button] of Object.entries(colors))
    button.addEventListener('click', () => {
      gantts.setByKind(name === 'kind');
      url.set({ color: name === 'job' ? name : '' });
      show();
    });
  fill(
    $('#kind-key'),
    h('span', {}, 'Colour: difference of the job from the baseline; in the baseline, from the run selected above'),
    DIFFERENCE_TYPES.map((kind) =>
      h('span', { title: kindText(kinds[kind], 'the baseline', 'the compared run') }, kindMark(kind), kindWord(kind)),
    ),
    h('span', {}, kindMark(null), 'equal in both'),
    h(
      'span',
      { id: 'not-compared', hidden: true },
      h('i', { class: 'swatch muted-mark' }),
      'not compared: not in all runs, or from another trace',
    ),
  );
  wireRows(gantts, view);
  numbersButton('gantts', () => gantts.table());
  view.addEventListener('range', showNote);
  show();
  return show;
}

/** Shows the colours of differences above the schedules; while all rows are shaded, the scale and its reason. */
function placeKeys({ byKind, allShaded }) {
  const instead = byKind && allShaded;
  $('#kind-key').hidden = !byKind || instead;
  $('#shade-key').hidden = !instead;
  const parts = [$('#gantts-detail'), $('#gantts-shade')];
  if (instead) $('#shade-key').append(...parts);
  else $('#gantts-hint').before(...parts);
}
