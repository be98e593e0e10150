// Tools of the schedule beside its options: folded groups, arrows, the minimap, the first range, and going to a time.

import { modelsOf, sharesInUse } from '../../models/index.js';
import { busyRange } from '../../core/ranges/busy-range.js';
import { url } from '../../ui/address/query.js';
import { Minimap } from '../../gantt/minimap.js';
import { $, setText } from '../../ui/dom.js';
import { capital, clock, elapsed, epoch } from '../../util/format.js';
import { parsePoint, pointExample } from '../../util/time-text.js';

const MIN_SHOWN_MS = 3_600_000; // of a real cluster that has just been seen for the first time

/**
 * Note on the arrows: what they are, or why there are none; '' if they are switched off.
 *
 * @param {{on: boolean, drawn: unknown}} links
 * @param {{detail: string, low: number, tallest: boolean}} frame
 */
export function linksNote(links, frame) {
  if (!links.on) return '';
  if (frame.detail === 'shade') {
    if (!frame.low) return 'Zoom in until single bars are visible to see the arrows.';
    return frame.tallest
      ? 'Rows of this height are too short for single bars, so no arrows are drawn.'
      : 'Make the rows taller until single bars are visible to see the arrows.';
  }
  return links.drawn
    ? 'Arrows lead from the suspension of a job to its resumption.'
    : 'No suspended job resumes in this part of the schedule.';
}

export class GanttTools {
  constructor(gantt, { store, info, view, playhead, transport }) {
    this.gantt = gantt;
    this.store = store;
    this.view = view;
    this.playhead = playhead;
    this.transport = transport;
    const inUse =
      modelsOf(info).length > 1 ? (p, from, width, bins) => sharesInUse(store, info, p, from, width, bins) : null;
    this.map = new Minimap($('#minimap'), { store, inUse, view, playhead });
    this.#folds();
    this.#links();
    this.#goTo();
  }

  /**
   * Shows the first range, unless the address names one, after the first data: of a finished run that in which most
   * happens; of a real cluster that from its first observation on.
   */
  start() {
    const { store, view } = this;
    if (!view.fitted) return;
    const seen = Math.min(store.seenFromMs, view.extent - MIN_SHOWN_MS);
    if (seen > 0) view.fitFrom(seen);
    if (!store.finished) return;
    const range = busyRange(this.store);
    if (!range) return;
    this.view.set(...range);
    url.set({ from: '', to: '' });
    setText($('#zoom-fit'), `Full range (${elapsed(this.view.extent, 3_600_000)})`);
  }

  /** The store has changed. */
  update() {
    this.map.update();
  }

  /** Repaints what depends on the drawing: which groups can be folded, and whether arrows can be drawn. */
  refresh() {
    const { rows, frame } = this.gantt;
    const some = rows.list.some(({ fold }) => fold !== undefined && fold !== null);
    $('#gantt-fold').hidden = !some;
    const open = rows.order === 'servers' ? !rows.folded.size : rows.folded.size > 0;
    setText($('#gantt-fold'), open ? 'Collapse' : 'Expand');
    setText($('#gantt-links-note'), linksNote(this.gantt.layer('links'), frame));
  }

  #folds() {
    const { gantt } = this;
    const kept = (url.get('fold') ?? '').split(',').filter(Boolean);
    const keep = () => {
      const codes = [...gantt.rows.folded].join(',');
      url.set({ fold: codes });
      this.refresh();
    };
    if (kept.length) {
      gantt.rows.folded = new Set(kept.map((one) => (/^-?\d+$/.test(one) ? Number(one) : one)));
      gantt.refold();
    }
    gantt.onFold = keep;
    $('#gantt-fold').addEventListener('click', () => {
      const open = gantt.rows.order === 'servers' ? !gantt.rows.folded.size : gantt.rows.folded.size > 0;
      gantt.fold(gantt.rows.order === 'servers' ? open : !open);
      keep();
    });
    $('#gantt-rows').addEventListener('click', keep);
  }

  #links() {
    const links = this.gantt.layer('links');
    const button = $('#gantt-links');
    button.addEventListener('click', () => {
      links.on = !links.on;
      button.setAttribute('aria-pressed', String(links.on));
      this.gantt.update();
      requestAnimationFrame(() => requestAnimationFrame(() => this.refresh()));
    });
  }

  /** A time that is typed is shown, and is the time of the page as far as the run has got. */
  #goTo() {
    const field = $('#go-to');
    if (epoch() !== null) field.title = `${capital(pointExample())}, then Enter`;
    field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter') return;
      const ms = parsePoint(field.value, this.view.extent);
      const beyond = ms !== null && ms > this.view.extent;
      field.setCustomValidity(
        ms === null
          ? `“${field.value}” is not a time: ${pointExample()}.`
          : beyond
            ? `The run ends at ${clock(this.view.extent)}.`
            : '',
      );
      if (!field.reportValidity()) return;
      const half = (this.view.to - this.view.from) / 2;
      if (ms < this.view.from || ms > this.view.to) this.view.set(ms - half, ms + half);
      if (ms <= this.playhead.liveMs) this.playhead.scrub(ms);
      this.view.point(ms);
    });
    field.addEventListener('input', () => field.setCustomValidity(''));
  }
}
