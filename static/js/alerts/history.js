// Ended alerts, paged by the server.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { DataTable, empty, rowsOfPage, shown } from '../ui/data-table.js';
import { fill, h, setText } from '../ui/dom.js';
import { endingText } from '../util/alert-words.js';
import { duration } from '../util/format.js';
import { repeatAfter } from '../util/poll.js';
import { about, level, moment, sentence } from './columns.js';

const PAGE_SIZE = rowsOfPage(25);
const columns = [
  level,
  sentence,
  about,
  { title: 'Started', cell: (alert) => moment(alert.began_at) },
  { title: 'Duration', number: true, cell: (alert) => lasted(alert) },
  { title: 'Reason for the end', cell: (alert) => endingText(alert.ending) },
  { title: 'Acknowledged', cell: (alert) => alert.acknowledged_by ?? '–' },
].map((column) => ({ ...column, value: undefined })); // by time only: the server cuts the pages

export class History {
  /** count: element for the number of ended alerts. */
  constructor(box, pages, count) {
    this.box = box;
    this.count = count;
    this.turn = 0;
    this.table = new DataTable(box, {
      name: 'alerts-ended',
      columns,
      size: PAGE_SIZE,
      pages,
      onChange: ({ page }) => this.load(page),
    });
  }

  async load(page = this.table.page) {
    const now = ++this.turn;
    try {
      const answer = await get(`/api/alerts/?state=ended&page=${page}&size=${PAGE_SIZE}`);
      if (now !== this.turn) return;
      setText(this.count, shown(answer.results.length, answer.count, 'alerts'));
      const none = empty('No ended alerts', 'Ended alerts are kept for 90 days.', ['Show the rules', '#rules']);
      this.table.paint(answer.results, { page, count: answer.count, none });
    } catch (error) {
      logError(error);
      if (error.status === 404 && page > 1) return this.load(1);
      if (now !== this.turn) return;
      fill(this.box, h('p', { class: 'error', role: 'alert' }, error.message));
      repeatAfter(error, () => now === this.turn && this.load(page));
    }
  }
}

function lasted({ began_at: began, ended_at: ended }) {
  return duration(Math.max(0, Date.parse(ended) - Date.parse(began)));
}
