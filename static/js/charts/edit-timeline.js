// Time from the scenario's beginning to the end of its jobs, with a flag for each edit that can be dragged to another
// moment; a change of the scheduler has its name. Flags of edits that are being typed have a +.

import { fill, h } from '../ui/dom.js';
import { clock, timeTicks } from '../util/format.js';
import { flagRows } from './layouts/flag-rows.js';

const TICK_PX = 110;
const LABEL_PX = 64; // a tick with less room right of it would be cut

/**
 * edits with their at_ms; typed: edits in the form; nameOf(scheduler); from, to: ms; least: earliest time of a flag;
 * ends: the end of the scenario, which a flag stays before, null without one; isPast(edit): its flag is fixed.
 * onMove(place, atMs) is called when a flag is dropped; onSpan(fromMs, toMs) when a time is clicked or dragged over
 * beside the flags (equal for a click).
 */
export function paintStrip(
  element,
  /** @type {any} */ {
    edits,
    typed = [],
    nameOf = String,
    from,
    to,
    least,
    ends = null,
    isPast,
    fork,
    editable,
    onMove,
    onSpan,
  },
) {
  const share = (ms) => `${(100 * Math.min(1, Math.max(0, (ms - from) / Math.max(1, to - from)))).toFixed(3)}%`;
  const { step, ticks } = timeTicks(from, to, Math.max(2, element.clientWidth / TICK_PX));
  const rows = flagRows(
    edits.map((edit, place) => ({
      x: (parseFloat(share(edit.at_ms ?? 0)) / 100) * element.clientWidth,
      text: words(String(place + 1), edit),
    })),
  );
  element.style.setProperty('--rows', String(Math.max(1, ...rows.map(({ row }) => row + 1))));
  fill(
    element,
    ticks
      .filter((ms) => ((to - ms) / Math.max(1, to - from)) * element.clientWidth >= LABEL_PX)
      .map((ms) => h('span', { class: 'tick', css: { left: share(ms) } }, clock(ms, step))),
    fork === null
      ? null
      : h('span', { class: 'past', css: { width: share(fork) }, title: `Past: up to ${clock(fork)}` }),
    edits.map((edit, place) => flag(edit, place)),
    typed.map((edit) =>
      h(
        'span',
        {
          class: `flag typed${edit.scheduler ? ' scheduler' : ''}`,
          css: { left: share(edit.at_ms) },
          title: `The edit in the form, at ${clock(edit.at_ms)}`,
        },
        words('+', edit),
      ),
    ),
  );

  function words(first, edit) {
    return edit.scheduler ? `${first} ${nameOf(edit.scheduler)}` : first;
  }

  const round = step >= 60_000 ? 60_000 : 1000;
  const atOf = (clientX) => {
    const box = element.getBoundingClientRect();
    const raw = from + ((clientX - box.left) / box.width) * (to - from);
    return Math.max(least, Math.min(Math.round(raw / round) * round, Math.floor(to)));
  };
  element.onpointerdown = (event) => {
    if (!editable || event.target.closest('.flag')) return;
    const first = atOf(event.clientX);
    const band = h('span', { class: 'span' });
    const show = ({ clientX }) => {
      const [a, b] = [first, atOf(clientX)].sort((x, y) => x - y);
      band.style.left = share(a);
      band.style.width = `calc(${share(b)} - ${share(a)})`;
      band.title = `${clock(a)} to ${clock(b)}`;
      return [a, b];
    };
    show(event);
    element.append(band);
    element.setPointerCapture(event.pointerId);
    element.onpointermove = show;
    element.onpointerup = (last) => {
      element.onpointermove = element.onpointerup = null;
      onSpan(...show(last));
    };
  };

  function flag(edit, place) {
    const fixed = !editable || isPast(edit);
    const { row, shift } = rows[place];
    const mark = h(
      'span',
      {
        class: `flag${edit.off ? ' off' : ''}${fixed ? ' fixed' : ''}${edit.scheduler ? ' scheduler' : ''}`,
        css: { left: share(edit.at_ms ?? 0), 'margin-left': `${shift - 1}px`, '--row': row },
        title: `Edit ${place + 1} at ${clock(edit.at_ms ?? 0)}${fixed ? '' : '; drag to another time'}`,
      },
      words(String(place + 1), edit),
    );
    if (fixed) return mark;
    mark.addEventListener('pointerdown', (event) => {
      mark.setPointerCapture(event.pointerId);
      let atMs = edit.at_ms;
      const move = ({ clientX }) => {
        atMs = ends === null ? atOf(clientX) : Math.max(least, Math.min(atOf(clientX), ends - round));
        mark.style.left = share(atMs);
        mark.title = clock(atMs);
      };
      mark.addEventListener('pointermove', move);
      mark.addEventListener(
        'pointerup',
        () => {
          mark.removeEventListener('pointermove', move);
          if (atMs !== edit.at_ms) onMove(place, atMs);
        },
        { once: true },
      );
    });
    return mark;
  }
}
