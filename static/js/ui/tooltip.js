// One tooltip beside the pointer, a native popover: lines of [name, value, job?]; a job shows its colour.

import { JOB_COLORS } from '../util/colors.js';
import { fill, h } from './dom.js';

const GAP_PX = 4; // distance to the edges of the chart

/** An element for a tooltip. */
export const tipElement = () => h('div', { class: 'tip', popover: 'manual' });

export class Tip {
  /** element: one of tipElement. */
  constructor(element) {
    this.element = element;
    this.open = false;
  }

  /** Shows lines beside the point x, y of a chart, within it. */
  show(lines, x, y, within) {
    fill(this.element, lines.map(lineOf));
    if (!this.open) this.element.showPopover();
    this.open = true;
    const { width, height } = this.element.getBoundingClientRect();
    const chart = within.getBoundingClientRect();
    const left = x + 16 + width > within.clientWidth ? x - width - 12 : x + 16;
    const top = Math.min(y + 12, within.clientHeight - height - GAP_PX);
    this.element.style.left = `${chart.left + Math.max(GAP_PX, left)}px`;
    this.element.style.top = `${chart.top + Math.max(GAP_PX, top)}px`;
  }

  hide() {
    if (this.open) this.element.hidePopover();
    this.open = false;
  }
}

function lineOf([name, value, job], i) {
  const swatch = job === undefined ? null : h('i', { class: `swatch job-${job % JOB_COLORS}` });
  return h('div', { class: i === 0 ? 'tip-head' : 'tip-row' }, h('span', {}, swatch, name), h('b', {}, value));
}
