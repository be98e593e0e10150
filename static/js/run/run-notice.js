// The notice of a run page: why the run waits or failed, and, after its deletion, who deleted it.

import { $, fill, setText, wholeDates } from '../ui/dom.js';

export class RunNotice {
  /** element: the box that shows the notice. */
  constructor(element) {
    this.element = element;
    this.last = false; // whether the run is gone: later messages do not replace that
  }

  /** Shows a sentence; '' hides the notice. */
  say(text, bad = false) {
    if (this.last) return;
    this.element.hidden = !text;
    this.element.classList.toggle('bad', bad);
    if (text && this.element.textContent !== text) fill(this.element, wholeDates(text));
  }

  /** The last message, after the run was deleted: state is that of its stream, selectors name what is of no use now. */
  gone(sentence, state, ...selectors) {
    this.say(`${sentence} This page shows the data that it had already loaded.`, true);
    this.last = true;
    setText($('#status'), state === 'deleted' ? 'deleted' : 'not available');
    $('#status').dataset.state = 'failed';
    for (const selector of selectors) if ($(selector)) $(selector).hidden = true;
  }
}
