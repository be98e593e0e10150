// The legend of a schedule with groups: of the subtasks in rows of servers, of what a job does in rows of jobs.

import { $, setText } from '../lib/dom.js';

const TAB = { servers: '#by-servers', jobs: '#by-jobs' };

/** Says what the marks mean, and again when the rows change. */
export function groupLegend() {
  setText($('#gantt-solid'), 'computation (COMP)');
  setText($('#gantt-hatch'), 'communication (PULL, PUSH), and in red what idles; zoom in until an iteration is wide enough');
  const paint = () => {
    const jobs = $(TAB.jobs).getAttribute('aria-selected') === 'true';
    for (const name of ['solid', 'hatch']) $(`#gantt-${name}`).parentElement.hidden = jobs;
    $('#gantt-states').hidden = !jobs;
  };
  for (const tab of Object.values(TAB)) $(tab).addEventListener('click', paint);
  paint();
}
