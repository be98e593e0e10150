// The page of alerts on recorded answers, and its words.

import assert from 'node:assert/strict';
import test from 'node:test';

import { badgeText, endingText, evaluationText, webhookLines } from '../../../static/js/util/alert-words.js';
import { needsPage, openPage, recorded, serveRecorded, until } from '../dom.js';

const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const text = (selector) => $(selector)?.textContent ?? '';
const refusal = (detail) => new Response(JSON.stringify({ detail }), { status: 400 });
const WEBHOOK = {
  receiver: 'https://hooks.example.org',
  signed: true,
  problem: '',
  waiting: 0,
  given_up: 0,
  delivered_at: null,
  next_at: null,
  error: '',
};
let visits = 0;

async function visit(first = []) {
  const window = openPage('/alerts/', 'alerts.html');
  const asked = serveRecorded(first);
  await import(`../../../static/js/alerts/page.js?${visits++}`);
  await until(
    () => $('#open tbody tr') && $('#rules-list tbody tr') && $('#history tbody tr'),
    'the tables are filled',
  );
  return { window, asked };
}

test('the number in the header, endings and the newest check in words', () => {
  assert.deepEqual(
    [badgeText({ serious: 0, notable: 0 }), badgeText({ serious: 1, notable: 2 }), badgeText({ serious: 200 })],
    ['', '3', '99+'],
  );
  assert.deepEqual([endingText('unwatched'), endingText('of_later')], ['no longer watched', 'of_later']);
  const status = { open: {}, evaluated_at: '2026-11-23T10:00:00Z', seconds: 1, watched: 2, left: 0, webhook: WEBHOOK };
  const at = Date.parse(status.evaluated_at);
  assert.equal(evaluationText(status, at + 3100), '2 targets checked 3 s ago');
  assert.equal(evaluationText(status, at + 200), '2 targets checked just now');
  assert.equal(
    evaluationText({ ...status, watched: 1, left: 4 }, at + 90_000),
    'Checks are late: 1 target checked 1m 30s ago, 4 left for the next check',
  );
  assert.match(evaluationText({ ...status, evaluated_at: null }, at), /not been checked yet/);
});

test('the webhook says where notices go, and what is undelivered', () => {
  const lines = (more) => webhookLines({ ...WEBHOOK, ...more }).map(({ text: line, error }) => [line, Boolean(error)]);
  assert.deepEqual(lines({ receiver: null }), [
    ['No webhook: alerts are shown here only. Its address is a setting of the server.', false],
  ]);
  assert.deepEqual(lines({ problem: 'ALERT_WEBHOOK_URL must be an address' }), [
    ['ALERT_WEBHOOK_URL must be an address.', true],
  ]);
  assert.deepEqual(lines({}), [
    ['Notices are posted to https://hooks.example.org, signed, no notice delivered yet.', false],
  ]);
  const failing = { waiting: 2, error: 'no answer in time', next_at: '2026-11-23T10:00:00Z', given_up: 1 };
  assert.deepEqual(lines({ ...failing, delivered_at: '2026-11-23T09:00:00Z', signed: false }), [
    ['Notices are posted to https://hooks.example.org, not signed, last notice delivered 2026-11-23 09:00 UTC.', false],
    ['2 notices undelivered: no answer in time. Next attempt 2026-11-23 10:00 UTC.', true],
    ['1 notice dropped in the last 7 days, because delivery failed for a day.', true],
  ]);
  assert.deepEqual(lines({ waiting: 1 })[1], ['1 notice waiting for delivery.', false]);
});

test('open alerts have their sentence, target and age, and can be acknowledged', needsPage, async () => {
  const { asked } = await visit([['/api/alerts/1/acknowledge/', {}]]);
  const row = $('#open tbody tr');
  assert.match(row.textContent, /serious.*Server w0 \(edge\).*Unavailable server/);
  assert.match(row.querySelector('a').getAttribute('href'), /^\/runs\/\d+\/servers\/0\/$/);
  assert.equal(text('#open-count'), '1 alert');
  const button = row.querySelector('button');
  assert.match(button.getAttribute('aria-label'), /^Acknowledge: Server w0/);
  button.click();
  await until(() => asked.some(([method, path]) => method === 'POST' && /acknowledge\/$/.test(path)), 'it is sent');
  assert.match(text('#history tbody tr'), /cleared/);
  assert.match(text('#webhook'), /No webhook/);
});

test('a threshold is stored when it changes, and a refusal stays beside its field', needsPage, async () => {
  const rules = (await recorded('/api/alert-rules/?size=500').json()).results;
  const old = rules.find((rule) => rule.rule === 'data_old');
  const stored = { ...old, parameters: { seconds: 90 } };
  let answer = stored;
  const { window, asked } = await visit([[`/api/alert-rules/${old.id}/`, () => answer]]);
  const input = () => $(`#rule-${old.id}-seconds`);
  const change = (value) => {
    input().value = value;
    input().dispatchEvent(new window.Event('change'));
  };
  assert.deepEqual([input().value, input().getAttribute('min')], ['60', '5']);
  change('90');
  await until(() => asked.some(([method]) => method === 'PATCH'), 'it is sent');
  assert.deepEqual(asked.find(([method]) => method === 'PATCH').slice(1), [
    `/api/alert-rules/${old.id}/`,
    { parameters: { seconds: '90' } },
  ]);
  assert.equal(input().value, '90');
  answer = refusal('parameter seconds must be at least 5 s, got 1.0');
  change('1');
  await until(() => /Stale data: parameter seconds must be at least 5/.test(text('#rules-error')), 'said');
  assert.deepEqual([input().value, input().hasAttribute('aria-invalid')], ['1', true]);
});

test('a rule of a target can be removed after a question, and one for all cannot', needsPage, async () => {
  const own = (await recorded('/api/alert-rules/?size=500').json()).results.find((rule) => rule.target);
  const { asked } = await visit([[`/api/alert-rules/${own.id}/`, new Response(null, { status: 204 })]]);
  const rows = $$('#rules-list tbody tr');
  const buttons = $$('#rules-list tbody button');
  assert.ok(rows.length > 5);
  assert.equal(buttons.length, 1);
  buttons[0].click();
  (await until(() => $('dialog.confirm'), 'a question is asked')).close('yes');
  await until(() => $$('#rules-list tbody tr').length === rows.length - 1, 'it is gone');
  assert.ok(asked.some(([method, path]) => method === 'DELETE' && path === `/api/alert-rules/${own.id}/`));
});

test('a rule for one target is offered where a target of its kind is there', needsPage, async () => {
  const clusters = { count: 1, results: [{ name: 'lab' }] };
  const { window, asked } = await visit([
    ['/api/connections/', clusters],
    ['/api/alert-rules/?', await recorded('/api/alert-rules/?size=500').json()],
    ['/api/alert-rules/kinds/', await recorded('/api/alert-rules/kinds/').json()],
    ['/api/alert-rules/', {}],
  ]);
  await until(() => $('#new-rule'), 'the form is there');
  const choose = (rule) => {
    $('#new-rule').value = rule;
    $('#new-rule').dispatchEvent(new window.Event('change'));
    return $$('#new-target option').map((option) => option.textContent);
  };
  assert.deepEqual(choose('run_stalled'), ['no live runs or batch runs now']);
  assert.equal($('#new-rule-form button').disabled, true);
  assert.deepEqual(choose('drift'), ['lab']);
  $('#new-rule-form').dispatchEvent(new window.Event('submit', { cancelable: true }));
  await until(() => asked.some(([method]) => method === 'POST'), 'it is sent');
  assert.deepEqual(asked.find(([method]) => method === 'POST').slice(1), [
    '/api/alert-rules/',
    { rule: 'drift', target: 'connection lab' },
  ]);
});

test('a viewer sees thresholds as text and changes nothing', needsPage, async () => {
  openPage('/alerts/', 'alerts.html');
  $('#new-rule-form').remove(); // as the template leaves it out
  document.body.dataset.role = 'viewer';
  serveRecorded();
  await import(`../../../static/js/alerts/page.js?${visits++}`);
  await until(() => $('#rules-list tbody tr') && $('#open tbody tr'), 'the tables are filled');
  assert.equal($$('#rules-list input:not([type="checkbox"]), #rules-list select, #open tbody button').length, 0);
  assert.ok($$('#rules-list input').every((box) => box.disabled));
  assert.match(text('#rules-list'), /age of the newest data 60 s/);
});

test('the target of an alert is a link unless it was deleted', needsPage, async () => {
  openPage('/alerts/', 'alerts.html');
  const { about } = await import('../../../static/js/alerts/columns.js');
  const live = about.cell({ target: 'run 5', address: '/runs/5/' });
  const deleted = about.cell({ target: 'run 5', address: '' });
  assert.deepEqual([live.tagName, live.getAttribute('href')], ['A', '/runs/5/']);
  assert.deepEqual(
    [...deleted.children].map(({ tagName, textContent }) => [tagName, textContent]),
    [
      ['S', 'run 5'],
      ['SPAN', 'deleted'],
    ],
  );
  assert.equal(about.cell({ target: 'connection lab', address: '' }).textContent, 'live cluster labdeleted');
});
