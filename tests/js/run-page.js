// The run page on recorded answers of the API, for tests: an open page, and what a user does on it.

import { RUNS, openPage, painted, serveRecorded, until } from './dom.js';

export const $ = (selector) => document.querySelector(selector);

export const text = (selector) => $(selector)?.textContent ?? '';

let visits = 0; // a page's module runs once for each address that it is imported by

export async function shown(name, query = '', first = []) {
  const id = RUNS[name];
  const names = { 'run.pk': String(id), 'run.scenario.name': name, 'run.status': 'finished' };
  const window = openPage(`/runs/${id}/${query}`, 'run.html', names);
  const asked = serveRecorded([...first, [`/api/runs/${id}/events/table/?until_ms`, { rows: [] }]]);
  painted.length = 0;
  await import(`../../static/js/pages/run.js${visits++ ? `?${visits}` : ''}`);
  await until(() => globalThis.twin?.store.finished && $('#jobs tbody tr'), 'the jobs are shown');
  await until(() => painted.length > 0, 'something is painted');
  return { window, asked, twin: globalThis.twin };
}

export const key = (window, name, target = document.body) =>
  target.dispatchEvent(new window.KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));

export const input = (window, selector, value, kind = 'input') => {
  $(selector).value = value;
  $(selector).dispatchEvent(new window.Event(kind, { bubbles: true }));
};

/** The px of a row and a moment on the Gantt. */
export function pointOf({ gantt }, label, ms) {
  const { frame } = gantt;
  const place = frame.rows.list.findIndex((row) => row.label === label);
  return [frame.xOf(ms), frame.area.top + (place + 0.25) * frame.rowPx - frame.top];
}

export function pointer(window, kind, [x, y], more = {}) {
  const event = new window.MouseEvent(kind, {
    bubbles: true,
    cancelable: true,
    button: 0,
    clientX: x,
    clientY: y,
    ...more,
  });
  Object.defineProperty(event, 'pointerId', { value: 1 });
  $('#gantt').setPointerCapture = $('#gantt').releasePointerCapture = () => {};
  $('#gantt').dispatchEvent(event);
}
