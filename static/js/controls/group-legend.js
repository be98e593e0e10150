// The legend of a schedule with groups: of the subtasks in rows of servers, of what a job does in rows of jobs.

import { $, setText } from '../lib/dom.js';

/** Says what the marks mean, and again when the rows change. */
export function groupLegend(gantt) {
  setText($('#gantt-solid'), 'computation (COMP)');
  setText($('#gantt-hatch'), 'communication (PULL, PUSH), and in red what idles; zoom in until an iteration is wide enough. Ticks at the top: regrouped');
  const paint = () => {
    const jobs = gantt.rows.order === 'jobs';
    for (const name of ['solid', 'hatch']) $(`#gantt-${name}`).parentElement.hidden = jobs;
    $('#gantt-states').hidden = !jobs;
  };
  $('#gantt-rows').addEventListener('click', paint);
  paint();
}
