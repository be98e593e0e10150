// The page of clusters on recorded answers of the API: the list, the form, and deletions.

import assert from 'node:assert/strict';
import test from 'node:test';

import { needsPage, recorded, until } from '../dom.js';
import { $, $$, change, refusal, text, visit } from '../visit.js';

test('clusters: the list, what one consists of, and its deletion after a question', needsPage, async () => {
  const { asked } = await visit('clusters', '/clusters/', {});
  await until(() => $('#list tbody tr'), 'clusters are listed');
  const name = $('#list tbody .link');
  name.click();
  await until(() => text('#detail-name') && !$('#detail').hidden, 'it is shown');
  assert.ok($$('#detail-kinds tbody tr').length > 0);
  const button = $$('#list tbody button').find((one) => one.textContent === 'Delete');
  button.click();
  (await until(() => $('dialog.confirm'), 'a question is asked')).close('yes');
  await until(() => asked.some(([method]) => method === 'DELETE'), 'it is deleted');
});

test('clusters: Enter once more after a cluster is created says nothing of its empty name', needsPage, async () => {
  const { window, asked } = await visit('clusters', '/clusters/', {});
  const form = await until(() => $('#n-name')?.closest('form'), 'the form is there');
  const enter = () => form.dispatchEvent(new window.Event('submit', { bubbles: true, cancelable: true }));
  change(window, '#n-name', 'mine', 'input');
  enter();
  await until(() => asked.some(([method]) => method === 'POST') && !$('#n-name').value, 'it is created');
  enter();
  assert.equal(
    $$('.error').some((line) => line.textContent === 'Enter a name.'),
    false,
  );
});

test('clusters: a cluster that somebody else deleted is named when it is opened', needsPage, async () => {
  const gone = 'Cluster 1 was deleted by ann.';
  const one = (_, path) => (/clusters\/\d+\/$/.test(path) ? refusal(404, gone) : recorded(path));
  const { asked } = await visit('clusters', '/clusters/', {}, [['/api/clusters/', one]]);
  (await until(() => $('#list tbody .link'), 'clusters are listed')).click();
  await until(() => !$('#list-error').hidden, 'it is said');
  assert.equal(text('#list-error'), gone);
  await until(() => asked.filter(([, path]) => path.includes('size=200')).length === 2, 'the list is read again');
});
