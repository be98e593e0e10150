// From a run to what-if: fork it at the moment shown, its family of forks, and what can be done with a fork.

import { get, post } from '../lib/api.js';
import { $, fill, h } from '../lib/dom.js';
import { clock } from '../lib/format.js';

const ACTIVE = ['queued', 'running', 'paused'];

/** A scenario that goes on from atMs; then its page, with a form that is filled from `wanted` {verb, servers, from, to}. */
export async function forkAt(runId, atMs, wanted = {}) {
  const { scenario } = await post(`/api/runs/${runId}/forks/`, { at_ms: Math.max(1, Math.floor(atMs)) });
  const asked = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value !== undefined && value !== ''));
  location.assign(`/scenarios/${scenario.id}/${asked.size ? `?${asked}` : ''}`);
}

export class Family {
  /** element: a panel with a body; onError(error). */
  constructor(element, runId, { operator, onError }) {
    Object.assign(this, { element, runId, operator, onError });
  }

  async load() {
    const rows = await get(`/api/runs/${this.runId}/forks/`);
    this.element.hidden = rows.length < 2;
    if (rows.length < 2) return;
    const own = rows.find((row) => row.id === this.runId);
    const parent = rows.find((row) => row.id === own?.parent);
    fill($('.family-body', this.element),
      h('ul', { class: 'family' }, rows.map((row) => h('li', { 'aria-current': row.id === this.runId ? 'true' : null, css: { 'padding-left': `${row.depth * 22}px` } },
        row.depth ? h('span', { class: 'muted', 'aria-hidden': 'true' }, '└') : null, h('a', { href: `/runs/${row.id}/` }, `Run ${row.id}`), row.name,
        h('span', { class: 'muted' }, [row.fork_ms === null ? null : `forked at ${clock(row.fork_ms)}`, row.mode === 'live' ? 'live' : null, row.status].filter(Boolean).join(', ')),
        row.parent && row.id !== this.runId ? h('a', { href: `/compare/?runs=${row.parent},${row.id}` }, 'Compare with its parent') : null,
        row.said.length ? h('span', { class: 'said' }, row.said.join('. ')) : null))),
      parent ? h('p', { class: 'actions' },
        h('a', { class: 'button primary', href: `/compare/?runs=${parent.id},${this.runId}` }, 'Compare with the present'),
        this.operator && parent.mode === 'live' && ACTIVE.includes(parent.status) ? h('button', { type: 'button', id: 'promote', title: `It goes on live at the clock of run ${parent.id}, which is cancelled`, onclick: () => this.#promote(parent) }, 'Promote: make it the present') : null,
        this.operator ? h('button', { type: 'button', class: 'danger', id: 'discard', onclick: () => this.#discard(parent) }, 'Discard') : null) : null);
  }

  async #promote(parent) {
    if (!confirm(`This fork goes on live in place of run ${parent.id}, which is cancelled. Its log stays.`)) return;
    await post(`/api/runs/${this.runId}/promote/`).then((made) => location.assign(`/runs/${made.id}/`), this.onError);
  }

  async #discard(parent) {
    if (!confirm('Remove this fork with its log?')) return;
    await post(`/api/runs/${this.runId}/discard/`).then(() => location.assign(`/runs/${parent.id}/`), this.onError);
  }
}
