// Open alerts: age, what they are about, and a button that acknowledges one.

import { post } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { DataTable, empty } from '../ui/data-table.js';
import { h } from '../ui/dom.js';
import { duration, wall } from '../util/format.js';
import { about, level, sentence } from './columns.js';

export class OpenAlerts {
  /** say(sentence): shows an error; onChange(): after an acknowledgement. */
  constructor(box, { operator, say, onChange }) {
    this.operator = operator;
    this.say = say;
    this.onChange = onChange;
    this.table = new DataTable(box, { name: 'alerts-open', columns: this.#columns() });
  }

  paint({ results, count }) {
    const about = 'An alert appears when a rule finds something, such as an unavailable server or a stalled run.';
    const none = empty('No open alerts', about, ['Show the rules', '#rules']);
    this.table.paint(results, { count, none });
  }

  #columns() {
    return [
      level,
      sentence,
      about,
      {
        title: 'Age',
        number: true,
        value: (alert) => -Date.parse(alert.began_at),
        cell: (alert) => h('span', { title: wall(alert.began_at) }, age(alert)),
      },
      { title: 'Acknowledged', value: (alert) => alert.acknowledged_at, cell: (alert) => this.#acknowledged(alert) },
    ];
  }

  #acknowledged(alert) {
    if (alert.acknowledged_at) {
      const by = alert.acknowledged_by ?? 'a deleted account';
      return h('span', { class: 'muted', title: wall(alert.acknowledged_at) }, by);
    }
    if (!this.operator) return '–';
    const name = `Acknowledge: ${alert.sentence}`;
    return h('button', { type: 'button', 'aria-label': name, onclick: () => this.#acknowledge(alert) }, 'Acknowledge');
  }

  async #acknowledge(alert) {
    try {
      await post(`/api/alerts/${alert.id}/acknowledge/`);
      this.say('');
    } catch (error) {
      logError(error);
      this.say(error.message);
    }
    this.onChange();
  }
}

function age({ began_at: began }) {
  return duration(Math.max(1, Math.round((Date.now() - Date.parse(began)) / 1000)) * 1000);
}
