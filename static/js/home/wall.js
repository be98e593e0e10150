// The wall: the present of one run without controls, for a screen that nobody operates.

import { get } from '../core/api.js';
import { Present } from './present.js';
import { presentRuns } from './present-runs.js';
import { followOverview } from '../ui/connection-badge.js';
import { $, debounce } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';

const present = new Present($('#present'));
const list = new PagePart('list of runs');
let runs = [];

async function load() {
  runs = await list.persist(async () => presentRuns(await get('/api/runs/?size=50')));
  $('#wall-none').hidden = runs.length > 0;
  present.show(runs);
}

const reload = debounce(load, 300);

addEventListener('keydown', (event) => {
  if (event.key === 'Escape') location.href = '/';
});
load();
followOverview((message) => {
  const news = message.run ?? message;
  const known = runs.find((run) => run.id === news.id);
  if (!known || message.type === 'deleted' || news.status !== known.status) return reload();
  Object.assign(known, { status: news.status, sim_ms: news.sim_ms });
  present.show(runs);
}, reload);
