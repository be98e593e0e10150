// The event at the time shown, and steps to the next and the previous event.

import { get } from '../core/api.js';
import { eventTitle } from '../models/titles.js';
import { $, setText } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { lowered, number } from '../util/format.js';
import { Later } from '../util/throttle.js';
import { url } from '../ui/address/query.js';

const LOOK_MS = 200;

export class EventStep {
  /** transport moves the page; store has the last event; onRow(row) after the event shown has changed. */
  constructor(runId, transport, store, onRow = (_row) => {}) {
    this.runId = runId;
    this.transport = transport;
    this.store = store;
    this.onRow = onRow;
    this.row = null; // {seq, at_ms, text, id, ...} of the event shown, or of the last one before the time
    this.wanted = null; // requested seq, not yet received: a second step starts from it
    this.turn = 0;
    this.part = new PagePart('event at the time shown');
    $('#event-back').addEventListener('click', () => this.step(-1));
    $('#event-on').addEventListener('click', () => this.step(1));
    const later = new Later(LOOK_MS, () => this.#refresh()); // a live run moves all the time
    for (const name of ['move', 'state']) transport.playhead.addEventListener(name, () => later.ask());
  }

  /** Shows the event of the address, if it has one. */
  async start() {
    const wanted = url.number('event', { from: 1, to: this.store.lastSeq, instead: 'No event is selected.' });
    if (wanted !== null)
      await this.go(wanted, url.get('from') === null); // a zoom in the address stays as it is
    else this.#refresh();
  }

  /** Shows event `seq`; reveal: pans to it if it is out of view. */
  async go(seq, reveal = true) {
    const turn = ++this.turn;
    this.wanted = Math.min(Math.max(1, seq), this.store.lastSeq);
    const row = await this.#ask({ before: this.wanted + 1 });
    if (turn !== this.turn) return;
    this.wanted = null;
    if (!row) return;
    this.row = row;
    if (reveal) this.transport.show(row.at_ms);
    else this.transport.playhead.scrub(row.at_ms);
    this.#paint();
  }

  /** Updates the number of events after the log has grown. */
  grown() {
    if (this.row) this.#paintPlace();
  }

  async step(by) {
    if (this.transport.playhead.playing) this.transport.playhead.pause();
    const newest = this.store.lastSeq + (by < 0 ? 1 : 0);
    await this.go((this.wanted ?? (this.transport.playhead.following ? newest : (this.row?.seq ?? 0))) + by);
  }

  async #refresh() {
    if (this.wanted !== null) return; // a step is in progress
    const { playhead } = this.transport;
    if (playhead.following || playhead.playing) {
      this.turn++;
      this.row = null;
      return this.#paint();
    }
    // stepped to; several events may share a moment
    if (this.row && this.row.at_ms === playhead.ms) return this.#paint();
    const turn = ++this.turn;
    const again = () => turn === this.turn && this.#refresh();
    const row = await this.#ask({ until_ms: Math.floor(playhead.ms) }, again);
    if (turn !== this.turn) return;
    this.row = row;
    this.#paint();
  }

  async #ask(asked, again) {
    const query = new URLSearchParams({ ...asked, size: 1 });
    const answer = await this.part.load(get(`/api/runs/${this.runId}/events/table/?${query}`), again);
    return answer?.rows[0] ?? null;
  }

  #paint() {
    this.#paintPlace();
    url.set({ event: this.row && this.row.at_ms === this.transport.playhead.ms ? this.row.seq : '' });
    this.onRow(this.row);
  }

  #paintPlace() {
    const { row } = this;
    const of = `of ${number(this.store.lastSeq, 0)}`;
    const text = row
      ? `event ${number(row.seq, 0)} ${of}: ${row.id ? `${row.id} ` : ''}${lowered(eventTitle(row.kind))}`
      : '';
    setText($('#event-at'), text);
    $('#event-at').title = row?.text ?? '';
    $('#event-back').disabled = row?.seq === 1;
    $('#event-on').disabled = this.transport.playhead.following || (row !== null && row.seq >= this.store.lastSeq);
  }
}
