// The charts of the run page. Each panel of the list has its own section and fails alone (registry.js).

import { inPanel } from '../../ui/failures/panel-isolation.js';
import { numbersButton } from '../../ui/table-toggle.js';
import { clock } from '../../util/format.js';
import { chartSection } from './section.js';

export class ChartPanels {
  /** Adds the sections of the panels to the box, in order. */
  constructor(box, panels) {
    this.panels = panels.map((panel) => ({ panel, section: chartSection(panel), made: null }));
    box.append(...this.panels.map(({ section }) => section.element));
  }

  /** Makes the charts. page: {runId, store, info, metrics, view, playhead, transport, pick(job)}. */
  make(page) {
    for (const each of this.panels) {
      const make = () => {
        const made = each.panel.make(page, each.section);
        numbersButton(each.panel.id, () => made.chart.table((ms) => clock(ms)));
        return made;
      };
      each.made = inPanel(each.section.element, make)();
      each.notify = inPanel(each.section.element, (verb, detail) => each.made?.[verb]?.(detail));
    }
  }

  /** Object that the panel `id` made, or null. */
  made(id) {
    return this.panels.find(({ panel }) => panel.id === id)?.made ?? null;
  }

  /** Calls a method of every panel that was made: 'update', 'refresh', 'moved' or 'status'. */
  notify(verb, detail) {
    for (const { made, notify } of this.panels) if (made) notify(verb, detail);
  }
}
