// Alerts: those that are open, the rules with their thresholds, the webhook, and the history.

import { get } from '../core/api.js';
import { logError } from '../core/client-errors.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { shown } from '../ui/data-table.js';
import { $, errorLine, fill, h, setText } from '../ui/dom.js';
import { evaluationText, webhookLines } from '../util/alert-words.js';
import { PagePart } from '../ui/failures/page-part.js';
import { Poll, repeatAfter } from '../util/poll.js';
import { History } from './history.js';
import { OpenAlerts } from './open-alerts.js';
import { Rules } from './rules.js';

const AGAIN_MS = 3000;
const MAX_OPEN = 200;
const part = new PagePart('open alerts');
const operator = document.body.dataset.role === 'operator';
const say = errorLine($('#open-error'));
const sayRule = errorLine($('#rules-error'));
const open = new OpenAlerts($('#open'), { operator, say, onChange: () => poll.now() });
const history = new History($('#history'), $('#history-pages'), $('#history-count'));
const rules = new Rules($('#rules-list'), { operator, say: sayRule, form: $('#new-rule-form') });
let known = null; // ids of the open alerts: the history changes with them

async function load() {
  if (document.hidden && known !== null) return true;
  const [page, status] = await Promise.all([
    get(`/api/alerts/?state=open&size=${MAX_OPEN}`),
    get('/api/alerts/status/'),
  ]);
  open.paint(page);
  setText($('#open-count'), shown(page.results.length, page.count, 'alerts'));
  setText($('#evaluation'), evaluationText(status, Date.now()));
  fill(
    $('#webhook'),
    webhookLines(status.webhook).map(({ text, error }) => h('p', { class: error ? 'error' : 'muted' }, text)),
  );
  const ids = page.results.map(({ id }) => id).join();
  if (known !== ids) history.load();
  known = ids;
  return true;
}

const poll = new Poll(load, AGAIN_MS, (error) => {
  part.turn(error);
  if (error && known === null) for (const box of ['#open', '#webhook']) $(`${box} > p`)?.remove(); // “Loading …”
});
connectionBadge($('#connection'), poll, 'change');
const loadRules = () =>
  rules.load().then(
    () => sayRule(''),
    (error) => {
      logError(error);
      sayRule(error.message);
      repeatAfter(error, loadRules);
    },
  );
const listed = loadRules();
Promise.allSettled([poll.now(), listed]).then(() => {
  // they are shown when the heights above them are known, so that nothing moves
  for (const id of ['#notices', '#rules', '#past']) $(id).hidden = false;
  if (location.hash === '#rules') $('#rules').scrollIntoView();
});
