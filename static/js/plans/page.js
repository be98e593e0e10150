// Plans for the waiting jobs of a live cluster: what they may do, a form for a new one, and those that there are.

import { get } from '../core/api.js';
import { connectionBadge } from '../ui/connection-badge.js';
import { empty } from '../ui/data-table.js';
import { $, fill, showPanels } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { Poll } from '../util/poll.js';
import { NewPlan } from './new-plan.js';
import { PlanCard } from './plan-card.js';
import { Rule } from './rule.js';

const ABOUT =
  'A plan lists changes and commands for the waiting jobs; nothing is sent to the cluster without an approval.';
const AGAIN_MS = 2000;
const name = $('main').dataset.connection;
const part = new PagePart('plans');
const operator = document.body.dataset.role === 'operator';
const approver = document.body.dataset.approver === 'yes';
const rule = new Rule($('#rule'), $('#rule-actions'), { name, operator, approver, onChange: () => poll.now() });
const form = operator ? new NewPlan($('#new'), { name, onMade: () => poll.now() }) : null;
const cards = new Map(); // number of a plan -> its card

async function load() {
  if (document.hidden && cards.size) return true;
  const [acting, plans] = await Promise.all([get(`/api/live/${name}/acting/`), get(`/api/live/${name}/proposals/`)]);
  rule.paint(acting);
  form?.paint(acting);
  for (const plan of plans) {
    const card = cards.get(plan.id) ?? new PlanCard(plan.id, { operator, approver, onChange: () => poll.now() });
    cards.set(plan.id, card);
    card.paint(plan);
  }
  const elements = plans.map((plan) => cards.get(plan.id).element);
  const box = $('#list');
  const next = operator && !acting.possible ? ['Make a plan', '#new'] : ['Show the cluster', `/live/${name}/`];
  if (!elements.length) fill(box, empty('No plans yet', ABOUT, next));
  else if (elements.some((element, place) => box.children[place] !== element)) fill(box, elements);
  return true;
}

const poll = new Poll(load, AGAIN_MS, (error) => {
  part.turn(error);
  showPanels('data-starting');
});
connectionBadge($('#connection'), poll, 'change');
poll.now();
