// One tooltip beside the pointer: lines of [name, value, job?]; a job shows its colour.

import { JOB_COLORS } from '../lib/colors.js';
import { fill, h } from '../lib/dom.js';

export class Tip {
  constructor(element) {
    this.element = element;
  }

  show(lines, x, y, within) {
    const rows = lines.map(([name, value, job], i) => h('div', { class: i === 0 ? 'tip-head' : 'tip-row' },
      h('span', {}, job === undefined ? null : h('i', { class: `swatch job-${job % JOB_COLORS}` }), name), h('b', {}, value)));
    fill(this.element, rows);
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = x + 16 + width > within.clientWidth ? x - width - 12 : x + 16;
    this.element.style.left = `${Math.max(4, left)}px`;
    this.element.style.top = `${Math.max(4, Math.min(y + 12, within.clientHeight - height - 4))}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}
