// Lists and forms that several pages have in common, the audit list, tokens and a server, on recorded answers.

import assert from 'node:assert/strict';
import test from 'node:test';

import { OPEN } from '../../../static/js/core/columns/bars.js';
import { RUNS, needsPage, openPage, recorded, serveRecorded, until } from '../dom.js';
import { $, $$, change, refusal, text, visit } from '../visit.js';

test(
  'the audit list shows its entries, keeps its filters in the address, and says when nothing matches',
  needsPage,
  async () => {
    const empty = [(path) => /q=nothing/.test(path), { count: 0, results: [], users: [], actions: [] }];
    const { window, asked } = await visit('audit', '/audit/?action=run', {}, []);
    await until(() => $('#list tbody tr'), 'entries are listed');
    assert.match(text('#count'), /entr(y|ies) found, newest first/);
    assert.match(asked[0][1], /action=run/);
    serveRecorded([['/api/audit/?q=nothing', empty[1]]]);
    change(window, '#q', 'nothing', 'input');
    await until(() => /No matching entries/.test(text('#list')), 'nothing matches');
    assert.match(location.search, /q=nothing/);
    serveRecorded([['/api/audit/', refusal(500, 'The database is locked.')]]);
    change(window, '#q', 'more', 'input');
    await until(() => /The database is locked/.test(text('#list')), 'the refusal is shown');
    assert.equal(text('#count'), '', 'the number of entries was that of another answer');
    const before = asked.length;
    change(window, '#until', '2026-01-01');
    change(window, '#since', '2026-02-01');
    const days = '“From” must not be after “To”, got 2026-02-01 and 2026-01-01.';
    await until(() => text('#list') === days, 'the days are refused by their labels');
    assert.ok(
      asked.slice(before).every(([, path]) => !/since=/.test(path)),
      'the API is not asked',
    );
  },
);

for (const [page, refused] of [
  ['scenarios', 'Still used by run 1; delete those first.'],
  ['sweeps', 'sweep 1 has 2 unfinished runs; cancel it before deleting it'],
])
  test(`${page}: a row is deleted after a question, and a refusal is shown above the list`, needsPage, async () => {
    let answer = () => refusal(409, refused);
    const { asked } = await visit(page, `/${page}/`, {}, [
      [`/api/${page}/`, (body, path, method) => (method === 'DELETE' ? answer() : recorded(path))],
    ]);
    const again = async () => {
      (await until(() => $$('#list tbody button').find((one) => one.textContent === 'Delete'), 'a button')).click();
      (await until(() => $('dialog.confirm'), 'a question is asked')).close('yes');
    };
    await again();
    await until(() => text('#list-error') === refused, 'the refusal is shown');
    assert.ok($('#list tbody tr'), 'the list stays');
    const lists = () => asked.filter(([method, path]) => method === 'GET' && path.startsWith(`/api/${page}/?`)).length;
    const shown = lists();
    answer = () => refusal(404, 'There is none; it may have been deleted.');
    await again();
    await until(() => text('#list-error') === 'There is none; it may have been deleted.', 'what happened is shown');
    await until(() => lists() > shown, 'what somebody else has deleted leaves the list');
    const before = asked.length;
    answer = () => new Response(null, { status: 204 });
    await again();
    await until(() => asked.length > before + 1 && !$('#list-error'), 'the list is asked for again');
  });

test('tokens: the form fits the scope that Back has kept', needsPage, async () => {
  const window = openPage('/settings/tokens/', 'tokens.html');
  serveRecorded([['/api/tokens/', { count: 0, results: [] }]]);
  await import(`../../../static/js/settings/tokens.js?back`);
  const source = $('#source').closest('.field');
  assert.equal(source.hidden, false);
  $('#scope').value = 'read'; // as a browser restores it: without an event
  window.dispatchEvent(new window.Event('pageshow'));
  assert.equal(source.hidden, true);
});

test('every page: the second click of a double click submits no form', needsPage, async () => {
  const window = openPage('/settings/tokens/', 'tokens.html');
  const { submitOnce } = await import('../../../static/js/ui/fields/submit-once.js');
  submitOnce();
  let sent = 0;
  const form = document.createElement('form');
  form.innerHTML = '<button id="send">Send</button><button id="more" type="button">More</button>';
  document.body.append(form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sent++;
  });
  const click = (selector, detail) =>
    $(selector).dispatchEvent(new window.MouseEvent('click', { bubbles: true, cancelable: true, detail }));
  click('#send', 1);
  click('#send', 2);
  assert.equal(sent, 1);
  assert.equal(click('#more', 2), true, 'other buttons take every click');
});

test('a server of each model: its charts, its jobs, and the one that is pointed at', needsPage, async () => {
  for (const name of ['slotted', 'typed', 'groups', 'handed']) {
    const id = String(RUNS[name]);
    await visit('server', `/runs/${id}/servers/0/`, {
      'run.pk': id,
      index: '0',
      'server.name': 's',
      'run.scenario.name': name,
    });
    await until(
      () => globalThis.twin?.store.finished && $$('#resources section').length > 0,
      `${name}: charts are shown`,
    );
    await until(() => $$('#tiles .tile').length > 0, 'tiles are shown');
    assert.ok($('#notice').hidden, text('#notice'));
    assert.equal($('#stack-jobs') !== null, name === 'groups');
    const table = $('#resources button[id$="-table"]');
    table.click();
    assert.equal(table.getAttribute('aria-pressed'), 'true');
  }
});

test('the page of a server that is down says so in its head and tiles, and offers no drain', needsPage, async () => {
  const id = String(RUNS.slotted);
  const info = await recorded(`/api/runs/${id}/static/`).json();
  info.cluster.servers[0].away = [[0, OPEN]];
  info.cluster.servers[0].states = [[0, 'down', 'Not responding']];
  const names = { 'run.pk': id, index: '0', 'server.name': 's', 'run.scenario.name': 'slotted' };
  await visit('server', `/runs/${id}/servers/0/`, names, [[`/api/runs/${id}/static/`, info]]);
  await until(() => $$('#tiles .tile').length > 1, 'tiles are shown');
  assert.equal(text('#server-state'), 'unavailable: Not responding');
  assert.match(text('#tiles'), /0 of [1-9][\d.]*, unavailable/);
  assert.equal($('#drain').disabled, true);
});

test(
  'the page of a server of a live cluster takes up outages, and is loaded again for axes of another capacity',
  needsPage,
  async () => {
    const id = String(RUNS.slotted);
    const info = await recorded(`/api/runs/${id}/static/`).json();
    const names = { 'run.pk': id, index: '0', 'server.name': 's', 'run.scenario.name': 'slotted' };
    await visit('server', `/runs/${id}/servers/0/`, names, [[`/api/runs/${id}/static/`, info]]);
    await until(() => $$('#tiles .tile').length > 1, 'tiles are shown');
    let reloads = 0;
    globalThis.location.reload = () => reloads++;
    const { store, stream } = globalThis.twin;
    const [server] = info.cluster.servers;
    const change = (fields) => {
      Object.assign(server, fields);
      store.added++; // as `server_set` does
      stream.dispatchEvent(new Event('data'));
    };
    assert.ok($('#server-state').hidden || text('#server-state') === '');
    change({ away: [[0, OPEN]], states: [[0, 'down', 'Not responding']] });
    await until(() => text('#server-state') === 'unavailable: Not responding', 'the outage is shown');
    assert.equal(reloads, 0);
    change({ was: [[1, server.capacity]], capacity: server.capacity.map((amount) => 2 * amount) });
    await until(() => reloads === 1, 'the page is loaded again');
  },
);
