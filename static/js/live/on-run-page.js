// Additions to the page of a mirrored run: the follow line, the current time, and the present gap.

import { $, setText } from '../ui/dom.js';
import { stateText } from './condition.js';
import { FollowLine } from './follow-line.js';
import { Forecasts } from './forecasts.js';

const MIN_AHEAD_MS = 3_600_000; // of forecasts that the schedule shows, beside a quarter of the time before

/** Shows the condition of the cluster in place of the status of its run, which is “running” also while it is paused. */
function headState(state) {
  const head = $('#status');
  head.dataset.state = state;
  setText(head, stateText(state));
}

/** Wires the line; null on the page of any other run. */
export function followOnRunPage(element, { runId, view, transport, gantt, drawer }) {
  if (!element?.dataset.connection) return null;
  const line = new FollowLine(element, { runId });
  let epochMs = null; // the cluster's time at which the log begins
  const own = () => epochMs !== null && line.connection?.run === runId;
  transport.present = () => (own() ? line.presentMs(epochMs) : null);
  transport.seen = () => (own() ? line.seenMs(epochMs) : null);
  let active = false; // whether the run goes on
  const paint = () => {
    if (!own()) return;
    if (active) headState(line.connection.condition.state);
    transport.reach();
    view.unseen.update(line.seenMs(epochMs), line.presentMs(epochMs), line.blind);
    gantt?.layer('now')?.update(line.presentMs(epochMs) ?? line.seenMs(epochMs), line.connection.wanted === 'paused');
    gantt?.update();
  };
  line.addEventListener('update', paint);
  const forecasts = new Forecasts(line.name, runId, line.badge);
  const live = () => own() && transport.then === null;
  transport.ahead = (ms) => (live() ? Math.min(forecasts.lastMs, ms + Math.max(MIN_AHEAD_MS, ms / 4)) : 0);
  forecasts.addEventListener('update', () => {
    transport.reach();
    gantt?.layer('forecast')?.update(forecasts.rows, live);
    gantt?.update();
    if (drawer.job !== null && forecasts.of(drawer.job)) drawer.open(drawer.job);
  });
  drawer.ahead = (job) => (own() ? forecasts.sentence(job, epochMs) : null);
  forecasts.start();
  setInterval(paint, 1000);
  line.start();
  return {
    /** A status message of the run. */
    status({ clock, status }) {
      epochMs = clock.wall_ms;
      active = status === 'running';
      paint();
    },
  };
}
