// The style guide: the components that scripts make, in both themes.

import { empty, table } from '../ui/data-table.js';
import { $, $$, fill } from '../ui/dom.js';
import { number } from '../util/format.js';
import { tile } from '../ui/labels/tile.js';

const ROWS = [
  ['OASiS', 706.2, 28],
  ['DRF', 512, 0],
  ['FIFO', 498.75, 0],
];
const COLUMNS = [
  { title: 'Scheduler', cell: ([name]) => name },
  { title: 'Utility', number: true, cell: ([, value]) => number(value) },
  { title: 'Rejected', number: true, cell: ([, , count]) => number(count, 0) },
];

for (const theme of $$('.theme')) {
  const part = (name) => $(`[data-part="${name}"]`, theme);
  fill(
    part('tiles'),
    tile('Running', '7', { hint: 'Jobs with at least one running worker.' }),
    tile('Memory', '43.4 %'),
    tile('Utility', '706.2'),
  );
  fill(part('table'), table(COLUMNS, ROWS, { selected: ([name]) => name === 'DRF' }));
  fill(part('empty'), empty('No runs yet', 'A run shows a scheduler at work.', ['Start a run', '/scenarios/']));
}
