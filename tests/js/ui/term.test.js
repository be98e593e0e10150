// Terms with definitions: on metric tiles, in the metrics of a run, in the table of a comparison.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, open } from '../dom.js';

const TEXT = 'Mean of completion − arrival over the completed jobs.';

async function page() {
  open('/', '<main></main>');
  const { term } = await import('../../../static/js/ui/labels/term.js');
  const [one, other] = ['Mean JCT', 'Jobs'].map((title) => term(title, { definition: TEXT, direction: 'lower' }));
  document.querySelector('main').append(one, other);
  return { one, other, box: () => document.querySelector('.definition') };
}

/** A click by the keyboard, as the browser reports it. */
const press = (button) => button.dispatchEvent(new document.defaultView.MouseEvent('click', { bubbles: true }));

test('Enter opens the definition, with what is better, and closes it again', needsPage, async () => {
  const { one, box } = await page();
  assert.equal(one.textContent, 'Mean JCT');
  assert.equal(one.getAttribute('aria-expanded'), 'false');
  press(one);
  assert.equal(box().textContent, `Mean JCT${TEXT}Lower is better.`);
  assert.equal(box().getAttribute('role'), 'status');
  assert.equal(one.getAttribute('aria-expanded'), 'true');
  press(one);
  assert.equal(one.getAttribute('aria-expanded'), 'false');
});

test('one definition is open at a time; Escape closes it and nothing else', needsPage, async () => {
  const { one, other } = await page();
  const heard = [];
  document.body.addEventListener('keydown', ({ key }) => heard.push(key));
  press(one);
  press(other);
  const open = [one, other].map((button) => button.getAttribute('aria-expanded'));
  assert.deepEqual(open, ['false', 'true']);
  const escape = () => new document.defaultView.KeyboardEvent('keydown', { key: 'Escape', bubbles: true });
  other.dispatchEvent(escape());
  assert.equal(other.getAttribute('aria-expanded'), 'false');
  assert.deepEqual(heard, []);
  other.dispatchEvent(escape());
  assert.deepEqual(heard, ['Escape'], 'once it is closed the key is for the page');
});

test('a click on a term is no click on the row below it', needsPage, async () => {
  const { one } = await page();
  let clicks = 0;
  document.querySelector('main').addEventListener('click', () => clicks++);
  press(one);
  assert.equal(clicks, 0);
});
