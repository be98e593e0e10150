// The computation of the metrics of an ended run of a live cluster: its state, its cancel, and a new request.

import { get } from '../../core/api.js';
import { rulesOf } from '../../util/run-modes.js';
import { $ } from '../../ui/dom.js';
import { Poll } from '../../util/poll.js';
import { BackgroundWork } from '../../ui/background-work.js';

const AGAIN_MS = 2000;

/**
 * Shows the computation on the page of the run as long as an ended run has no metrics; status(detail) takes the state
 * of the run.
 *
 * @param {number} runId
 */
export function metricsWork(runId) {
  const address = `/api/runs/${runId}/metrics/`;
  const line = new BackgroundWork($('#metrics-work'), {
    address,
    name: 'the metrics',
    many: true,
    changed: () => poll.now(),
  });
  let due = false;
  const poll = new Poll(
    async () => {
      if (due) line.paint((await get(address)).state);
      return due;
    },
    AGAIN_MS,
    () => {}, // the state of the run itself comes from its socket, which says when it is lost
  );
  return {
    /** @param {{mode: string, status: string, metrics: object}} detail */
    status({ mode, status, metrics }) {
      const { simulated } = rulesOf({ mode });
      const was = due;
      due = !simulated && status === 'finished' && !Object.keys(metrics ?? {}).length;
      if (due && !was) poll.now();
      if (!due) line.paint('');
    },
  };
}
