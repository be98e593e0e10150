// The page of a cluster that has no run yet: what it waits for; it is loaded again once there is one.

import { FollowLine } from './follow-line.js';
import { $ } from '../ui/dom.js';

const line = new FollowLine($('#follow'), { runId: null });
line.addEventListener('update', () => {
  if (line.connection.run !== null) location.reload();
});
line.start();
