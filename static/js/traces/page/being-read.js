// A trace that is being received or read, with its progress; or that was not imported, with the reason.

import { post } from '../../core/api.js';
import { $, fill, h, setText } from '../../ui/dom.js';
import { bytes, percent, sentence } from '../../util/format.js';

const WORDS = { uploading: 'Receiving', queued: 'Waiting for a worker', parsing: 'Reading', cancelled: 'Cancelled' };

/** page: {id, operator, load(), fail(error)}. */
export function paintBeingRead(trace, { id, operator, load, fail }) {
  const busy = trace.status in WORDS && trace.status !== 'cancelled';
  if (!busy)
    return fill(
      $('#status'),
      h(
        'p',
        { class: 'notice bad', role: 'alert' },
        trace.status === 'failed'
          ? trace.message
          : `Cancelled. ${trace.message === 'cancelled' ? 'Nothing was imported.' : trace.message}`,
      ),
      operator ? h('p', {}, h('a', { class: 'button', href: '/traces/' }, 'Upload again')) : null,
    );
  const stop = operator
    ? h(
        'button',
        { type: 'button', id: 'cancel', onclick: () => post(`/api/traces/${id}/cancel/`).then(load).catch(fail) },
        'Cancel',
      )
    : null;
  fill(
    $('#status'),
    h(
      'div',
      { class: 'card going' },
      h('strong', { id: 'going' }),
      h('progress', { max: 1, value: 0, 'aria-labelledby': 'going' }),
      h('span', { class: 'muted', id: 'share' }),
      h('span', { class: 'error', id: 'stalled' }),
      stop,
    ),
    trace.status === 'uploading'
      ? h(
          'p',
          { class: 'muted' },
          received(trace),
          ' ',
          h('a', { href: '/traces/' }, 'On the page Traces'),
          ', drop the same files again to resume.',
        )
      : null,
  );
  progress(trace);
}

function received({ files }) {
  const [got, size] = ['received', 'size'].map((key) => files.reduce((sum, file) => sum + file[key], 0));
  return `Received ${bytes(got)} of ${bytes(size)}.`;
}

/** Shows how far it has been read. */
export function progress(trace) {
  const going = $('#going');
  if (!going) return;
  going.textContent = WORDS[trace.status] ?? trace.status;
  $('#status progress').value = trace.progress;
  $('#share').textContent = trace.status === 'queued' ? '' : percent(trace.progress);
  setText($('#stalled'), sentence(trace.stalled));
}
