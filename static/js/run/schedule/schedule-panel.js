// The schedule of the run page: the Gantt with its options, its tools, its legend, and the notes below it. What fails
// says so in the panel, and leaves the rest of the page.

import { Gantt } from '../../gantt/gantt.js';
import { drainsOf } from '../../core/ranges/outage-text.js';
import { wireRows } from '../../gantt/row-controls.js';
import { modelsOf } from '../../models/index.js';
import { $, fill, h, setText } from '../../ui/dom.js';
import { inPanel } from '../../ui/failures/panel-isolation.js';
import { numbersButton } from '../../ui/table-toggle.js';
import { Tip } from '../../ui/tooltip.js';
import { ganttLegend } from './gantt-legend.js';
import { ScheduleOptions } from './gantt-options.js';
import { GanttTools } from './gantt-tools.js';
import { noteParts, scheduleNote } from './schedule-note.js';

export class SchedulePanel {
  /** page: {runId, store, info, view, playhead, transport}; given: onPick, onServer and onFrame of the Gantt. */
  constructor(section, page, given) {
    const { runId, store, info, view, playhead, transport } = page;
    const made = (make) => inPanel(section, make)();
    this.store = store;
    this.info = info;
    this.playhead = playhead;
    this.gantt = made(() => ganttOf(page, given));
    this.options =
      this.gantt &&
      made(() => {
        const options = new ScheduleOptions(this.gantt, { runId, store, info, playhead });
        this.legend = ganttLegend(this.gantt, info, store);
        this.legend();
        $('#gantt-rows').addEventListener('click', this.legend);
        return options;
      });
    this.tools = this.gantt && made(() => new GanttTools(this.gantt, { store, info, view, playhead, transport }));
    /** Shows the notes and counts of what is drawn. */
    this.paint = inPanel(section, () => this.gantt && this.#paint());
  }

  /** New data have arrived. */
  update() {
    this.gantt?.update();
    this.tools?.update();
  }

  #paint() {
    const { gantt, info, playhead, store } = this;
    const { servers } = info.cluster;
    const byServer = gantt.rows.order === 'servers';
    const { text, scale } = scheduleNote(gantt);
    $('#gantt-shade').hidden = !scale;
    $('#gantt-away').hidden = !byServer || !servers.some((server) => server.away);
    $('#gantt-drains').hidden = !byServer || !servers.some((server) => drainsOf(server, playhead.ms).length);
    $('#gantt-edits').hidden = !store.edits.some(([atMs]) => atMs <= playhead.ms);
    if ($('#gantt-detail').textContent !== text)
      fill(
        $('#gantt-detail'),
        noteParts(text).map(([part, hint]) => (hint ? h('span', { class: 'hint' }, part) : part)),
      );
    this.legend?.();
    this.options?.refresh();
    this.tools?.refresh();
    setText($('#gantt-count'), gantt.rows.withBars(store.standing));
  }
}

function ganttOf({ store, info, view, playhead }, given) {
  const gantt = new Gantt($('#gantt'), {
    store,
    info,
    models: modelsOf(info),
    view,
    playhead,
    scroller: $('#scroller'),
    tip: new Tip($('#tip')),
    ...given,
  });
  wireRows(gantt, view);
  numbersButton('gantt', () => gantt.table());
  return gantt;
}
