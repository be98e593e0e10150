// Schedules of several runs below each other, with one time axis, crosshair and playhead; rows scroll together.

import { KIND_COLORS, NOT_COMPARED, leading, masks } from './comparison.js';
import { runInfo, runLabel } from '../core/run-info.js';
import { modelsOf } from '../models/index.js';
import { h, setText } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { Store } from '../core/store.js';
import { Stream } from '../core/sockets/stream.js';
import { Tip, tipElement } from '../ui/tooltip.js';
import { Gantt } from '../gantt/gantt.js';
import { fittedPx } from '../gantt/row-fit.js';
import { scheduleNote } from '../run/schedule/schedule-note.js';
import { ACTIVE } from '../core/active-runs.js';
import { clock } from '../util/format.js';

const MIN_PLOT_PX = 48; // of the rows of a schedule with few of them

export class Gantts {
  /**
   * order: 'servers' | 'jobs'; byKind: colour by difference; onPick(run, job index); onData() when a store has changed.
   */
  constructor(element, { view, playhead, order, byKind, onPick, onData }) {
    this.element = element;
    this.view = view;
    this.playhead = playhead;
    this.order = order;
    this.byKind = byKind;
    this.onPick = onPick;
    this.onData = onData;
    this.onDetail = () => {}; // called when the note below the schedules may have changed
    this.list = []; // {run, store, info, gantt, stream}
    this.query = '';
    this.paints = new Map(); // run -> Uint8Array of masks
    this.bits = {};
    this.selected = new Map(); // run -> job
    this.fits = true; // whether the rows fit the height of the plots
    this.laid = ''; // number of rows of each schedule, as of the last alignment
    this.aroundPx = 0; // height of the time axis and the space above the rows; 0 before the first alignment
    addEventListener('resize', () => this.#align());
  }

  /** Fetches and draws the runs; the first is the base. */
  async start(runs) {
    this.list = await Promise.all(
      runs.map(async (run, i) => {
        const store = new Store();
        const count = h('span', { class: 'muted small' });
        const canvas = h('canvas', {
          tabindex: 0,
          role: 'img',
          'aria-label': `Schedule of run ${run.id}, ${run.title}; the Table button shows the same bars`,
        });
        const scroller = h('div', { class: 'scroller', tabindex: -1 }, h('div'));
        const tip = tipElement();
        this.element.append(
          h(
            'div',
            { class: 'gantt-head' },
            h('strong', {}, `${run.title} · run ${run.id}`),
            i === 0 ? h('span', { class: 'mark' }, 'baseline') : null,
            count,
          ),
          h(
            'div',
            { class: runs.length > 2 ? 'plot gantt low' : 'plot gantt half', 'data-run': run.id },
            canvas,
            scroller,
            tip,
          ),
        );
        const part = new PagePart(`schedule of run ${run.id}`);
        const info = await part.persist(() => runInfo(run.id));
        const stream = new Stream(run.id, store);
        await part.persist(() => stream.snapshot());
        const gantt = new Gantt(canvas, {
          store,
          info,
          models: modelsOf(info),
          view: this.view,
          playhead: this.playhead,
          scroller,
          tip: new Tip(tip),
          order: this.order,
          onPick: (job) => this.onPick(run.id, job),
          paint: (job, c) => this.#paint(run.id, job, c),
        });
        gantt.onDetail = () => this.onDetail();
        scroller.addEventListener('scroll', () => this.#follow(gantt));
        const entry = { run, store, info, gantt, stream, count };
        stream.addEventListener('data', () => {
          this.update();
          this.onData();
        });
        if (ACTIVE.includes(run.status)) stream.start();
        return entry;
      }),
    );
    if (this.query) this.setQuery(this.query);
    else this.update();
    this.onData();
  }

  /** The masks of GET /api/compare/kinds/, for the baseline and the compared run. */
  setKinds({ meta, columns }, other) {
    this.bits = meta.bits;
    const [base] = this.list;
    this.paints.clear();
    for (const { run } of this.list.slice(1)) this.paints.set(run.id, masks(columns, base.run.id, run.id).other);
    this.paints.set(base.run.id, masks(columns, base.run.id, other).base);
    this.update();
  }

  /** True if some job is not compared: not all runs have it, or its run is of another trace. */
  get uncompared() {
    return [...this.paints.values()].some((mask) => mask.includes(NOT_COMPARED));
  }

  /** True if all rows in view are shaded, so that no bar has a colour. */
  get allShaded() {
    return this.list.length > 0 && this.list.every(({ gantt }) => gantt.allShaded);
  }

  setOrder(order) {
    this.order = order;
    for (const { gantt } of this.list) gantt.setOrder(order);
    this.update();
  }

  setByKind(on) {
    this.byKind = on;
    this.update();
  }

  setQuery(text) {
    this.query = text;
    for (const { gantt } of this.list) gantt.setQuery(text);
    this.update();
  }

  /** As `scaleRows` of a Gantt: whether rows of any schedule can be lower, and taller. */
  scaleRows(factor) {
    this.fits = !factor;
    if (this.fits) this.#align();
    const can = this.list.map(({ gantt }) => gantt.scaleRows(factor || 1));
    if (!this.fits) this.#align();
    return [can.some(([lower]) => lower), can.some(([, taller]) => taller)];
  }

  /** Highlights the job with this id in every run that has it; null = none. */
  select(id) {
    for (const { gantt, info, run } of this.list) {
      const job = id === null ? -1 : info.ids.indexOf(id);
      this.selected.set(run.id, job);
      gantt.select(id === null ? null : job < 0 ? -1 : job);
      if (job >= 0) reveal(gantt, job);
    }
  }

  update() {
    for (const { gantt, store, count } of this.list) {
      gantt.update();
      const end =
        store.lastSeq && gantt.rows.list.length ? `${store.finished ? 'ended at' : 'up to'} ${clock(store.simMs)}` : '';
      setText(count, [gantt.rows.withBars(store.standing), end].filter(Boolean).join(', '));
    }
    if (this.laid !== this.#counts) this.#align();
  }

  /** The number of rows of each schedule. */
  get #counts() {
    return this.list.map(({ gantt }) => gantt.rows.list.length).join();
  }

  /** Rows of one height in all schedules; a plot is as high as its rows, and at most as the style sheet has it. */
  #align() {
    if (!this.list.length) return;
    this.laid = this.#counts;
    const plots = this.list.map(({ gantt }) => gantt.canvas.parentElement);
    for (const plot of plots) plot.style.height = '';
    const most = plots[0].clientHeight;
    this.aroundPx ||= most - this.list[0].gantt.height;
    const around = this.aroundPx;
    const counts = this.list.map(({ gantt }) => gantt.rows.list.length);
    const longest = this.list[counts.indexOf(Math.max(...counts))].gantt;
    const px = this.fits ? fittedPx(most - around, longest.rows) : longest.rowHeight();
    this.list.forEach(({ gantt }, i) => {
      plots[i].style.height = `${Math.min(most, around + Math.max(MIN_PLOT_PX, counts[i] * px))}px`;
      gantt.setRowPx(px);
    });
  }

  /** Sentence on the time axis that schedules of unequal lengths share; '' where all end at one time. */
  get axisNote() {
    const ends = this.list.map(({ store }) => store.simMs);
    const last = this.list[ends.indexOf(Math.max(...ends))];
    if (new Set(ends).size < 2) return '';
    return `One time axis for all schedules, up to the end of ${runLabel(last.run)} (${clock(last.store.simMs)}).`;
  }

  /** {text, scale}: the note of the schedules; if the notes differ, each note after the labels of its runs. */
  get note() {
    const notes = this.list.map(({ run, gantt }) => ({ label: runLabel(run), ...scheduleNote(gantt) }));
    const labels = new Map(); // note -> labels of the runs that have it
    for (const { label, text } of notes) labels.set(text, [...(labels.get(text) ?? []), label]);
    const texts = [...labels].map(([text, own]) => (labels.size > 1 && text ? `${own.join(', ')}: ${text}` : text));
    return { text: [this.axisNote, ...texts].filter(Boolean).join(' '), scale: notes.some(({ scale }) => scale) };
  }

  /** All the bars on screen, run by run. */
  table(limit = 500) {
    const each = Math.max(50, Math.floor(limit / Math.max(1, this.list.length)));
    const parts = this.list.map(({ run, gantt }) => [run, gantt.table(each)]);
    return {
      head: ['Run', ...(parts[0]?.[1].head ?? [])],
      rows: parts.flatMap(([run, { rows }]) => rows.map((row) => [`${run.title} · ${run.id}`, ...row])),
      total: parts.reduce((sum, [, { total }]) => sum + total, 0),
    };
  }

  #paint(run, job, c) {
    if (!this.byKind || !this.paints.has(run)) return [c.jobs[job % c.jobs.length], c.onJob[job % c.jobs.length]];
    const mask = this.paints.get(run)[job] ?? NOT_COMPARED;
    if (mask === NOT_COMPARED) return [c.muted, c.panel];
    const kind = leading(mask, this.bits);
    return kind ? [c.jobs[KIND_COLORS[kind]], c.onJob[KIND_COLORS[kind]]] : [c.same, c.ink];
  }

  #follow(moved) {
    for (const { gantt } of this.list)
      if (gantt !== moved && Math.abs(gantt.top - moved.top) >= 1) gantt.scrollTo(moved.top);
  }
}

/** Scrolls the job's row into view, where rows are jobs. */
function reveal(gantt, job) {
  const at = gantt.rows.list.findIndex((row) => row.kind === 'job' && row.index === job);
  if (at < 0) return;
  const y = at * gantt.rowHeight();
  if (y < gantt.top || y > gantt.top + gantt.height - gantt.rowHeight()) gantt.scrollTo(y - gantt.height / 2);
}
