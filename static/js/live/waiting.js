// Page of a cluster without a run yet: what it waits for. It reloads once there is a run.

import { FollowLine } from './follow-line.js';
import { $ } from '../ui/dom.js';

const line = new FollowLine($('#follow'), { runId: null });
line.addEventListener('update', () => {
  if (line.connection.run !== null) location.reload();
});
line.start();
