// The newest forecasts of a live cluster: requested at intervals, per job, and in words.

import { get } from '../core/api.js';
import { h } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { duration, number, percent, plural } from '../util/format.js';
import { utcTime } from '../util/wall-clock.js';

const AGAIN_MS = 5000;
/** States of calibration on screen, by their names in the API. */
export const STATES = { learning: 'learning', calibrated: 'calibrated', off: 'not calibrated' };
const LEADS = {
  learning: 'Forecast, not calibrated yet',
  calibrated: 'Forecast',
  off: 'Forecast, not calibrated',
};
const EXACT_MS = 600_000; // nearer starts are shown with seconds
const DUE_MS = 60_000; // a job that fits now and would start within this time could start now
const WHY = {
  now: 'It fits now, and waits for the next cycle of the scheduler.',
  priority: 'It waits for jobs with a higher priority.',
  time: 'It waits for the time from which it may start, or for a reservation to end.',
};

export class Forecasts extends EventTarget {
  /** Event 'update' after each answer. badge: element that shows the calibration; null for none. */
  constructor(name, runId, badge) {
    super();
    this.name = name;
    this.runId = runId;
    this.badge = badge;
    this.rows = [];
    this.byJob = new Map();
    this.error = '';
    this.state = 'learning'; // of the calibration
    this.signature = '';
    this.part = new PagePart('forecast');
  }

  start() {
    this.#ask();
  }

  /** End of the last forecast, in ms of the log. */
  get lastMs() {
    return this.rows.reduce((last, row) => Math.max(last, row.finish_ms ?? 0), 0);
  }

  /** The row of a job; undefined where it has none. */
  of(job) {
    return this.byJob.get(job);
  }

  async #ask() {
    if (!document.hidden || !this.signature) {
      try {
        const answer = await get(`/api/live/${this.name}/forecast/`);
        this.part.loaded();
        this.badge?.replaceChildren(badgeOf(this.name, answer.calibration));
        const rows = answer.run === this.runId ? answer.rows : [];
        const { state } = answer.calibration;
        const signature = `${answer.run} ${answer.made_ms} ${answer.error} ${state}`;
        if (signature !== this.signature) {
          this.rows = rows;
          this.error = answer.error;
          this.state = state;
          this.signature = signature;
          this.byJob = new Map(rows.map((row) => [row.job, row]));
          this.dispatchEvent(new Event('update'));
        }
      } catch (error) {
        if (error.status === 404) return this.part.forget(); // removed
        this.part.failed(error);
      }
    }
    setTimeout(() => this.#ask(), AGAIN_MS);
  }

  /** Forecast of a job, as a node; null of a job that has no forecast. */
  sentence(job, epochMs) {
    const row = this.of(job);
    if (!row) return null;
    return h(
      'div',
      { class: 'reason forecast', 'data-kind': 'forecast' },
      [...words(row, epochMs, this.state), ...outdated(this.error)].map(line),
    );
  }
}

const line = (text, place) => (place ? h('p', { class: 'muted' }, text) : h('strong', {}, text));

/**
 * The forecast of a job in sentences, the first one the start. state: of the calibration, as in the API.
 */
export function words(row, epochMs, state, now = Date.now()) {
  const lead = LEADS[state];
  const system = row.system_ms === null ? '' : `; the cluster estimates ${time(row.system_ms + epochMs, now)}`;
  if (row.start_ms === null) return [`No start is forecast${system}.`, row.never];
  const at = (ms) => time(ms + epochMs, now, row.start_ms + epochMs - now < EXACT_MS);
  const band = row.low_ms === null ? '' : `, between ${at(row.low_ms)} and ${at(row.high_ms)}`;
  const due = row.why === 'now' && row.start_ms + epochMs - now < DUE_MS; // its start is now again at the next look
  const start = due ? 'could start now' : `starts at ${at(row.start_ms)}`;
  const found = [`${lead}: ${start}${band}${system}.`];
  const names = row.waits_for.join(', ') + (row.more ? ` and ${number(row.more, 0)} more` : '');
  if (row.why === 'resources') found.push(`It waits for ${names} to end.`);
  else if (row.why === 'dependency') found.push(`It depends on ${names}.`);
  else found.push(WHY[row.why] ?? '');
  const ahead = row.ahead ? `${plural(row.ahead, 'waiting job')} ${row.ahead === 1 ? 'is' : 'are'} ahead of it. ` : '';
  const length = duration(row.finish_ms - row.start_ms);
  found.push(`${ahead}It would ${due ? `run for ${length}` : `end at ${at(row.finish_ms)}, after ${length}`}.`);
  return found.filter(Boolean);
}

/** Statement that there is no newer forecast, with the reason; nothing without one. */
export function outdated(error) {
  return error ? [`The forecast is not up to date: ${error}.`] : [];
}

/** A time in UTC, without seconds unless it is exact. */
function time(ms, now, exact = false) {
  const text = utcTime(ms, now);
  return exact ? text : text.replace(/(:\d\d):\d\d /, '$1 ');
}

/** A link to the page of the errors of forecasts; its text says whether the forecasts are calibrated. */
function badgeOf(name, calibration) {
  const { title, hint } = calibrationText(calibration);
  return h(
    'a',
    {
      class: 'state',
      'data-state': calibration.state,
      href: `/live/${name}/fidelity/`,
      title: hint,
      id: 'calibration',
    },
    title,
  );
}

/** {title, hint} of a calibration. */
export function calibrationText({ state, count, least, share }) {
  if (state === 'learning') {
    const sofar = `so far: ${number(count, 0)}`;
    const hint = `Calibration is assessed once ${number(least, 0)} forecasts with a band are scored; ${sofar}.`;
    return { title: `forecasts: learning (${number(count, 0)} of ${number(least, 0)})`, hint };
  }
  const hint = `${percent(share)} of ${plural(count, 'start')} inside their 80 % band.`;
  return { title: `forecasts: ${STATES[state]} (${percent(share)} inside the 80 % band)`, hint };
}
