// Parts of a page whose newest request has failed, named in a notice at the top of the page: what is absent or old
// never passes for current.

import { logError } from '../../core/client-errors.js';
import { sentence, wallClock } from '../../util/format.js';
import { isPassing, repeatAfter } from '../../util/poll.js';
import { $, fill, h, showPanels } from '../dom.js';

const AGAIN_MS = 2000; // after a failure; each wait is twice as long as the one before
const MAX_AGAIN_MS = 30_000;
const SHOW_MS = 250; // a page that is being left aborts its requests, and is gone before this notice

/** @type {Set<PagePart>} */
const failing = new Set();

export class PagePart {
  /**
   * @param {string} name a noun in lower case, as it is on the page
   * @param {boolean} [everywhere] true for a part that all pages have: it does not show the panels of a page
   */
  constructor(name, everywhere = false) {
    this.name = name;
    this.everywhere = everywhere;
    this.loadedAt = 0; // wall time of the newest answer
    /** @type {any} */
    this.error = null;
  }

  /**
   * The answer to a request; null if it failed: the notice names the part until one succeeds.
   *
   * @template T
   * @param {Promise<T>} request
   * @param {() => unknown} [again] makes the request again, after a failure that may pass
   * @returns {Promise<T | null>}
   */
  async load(request, again) {
    try {
      const answer = await request;
      this.loaded();
      return answer;
    } catch (error) {
      this.failed(error);
      if (again) repeatAfter(error, again);
      return null;
    }
  }

  /**
   * The answer of ask(), which is called again while it fails and a later call may succeed.
   *
   * @template T
   * @param {() => Promise<T>} ask
   * @param {(failed: boolean) => void} onTurn after each call
   * @returns {Promise<T>}
   */
  async persist(ask, onTurn = () => {}) {
    for (let wait = AGAIN_MS; ; wait = Math.min(2 * wait, MAX_AGAIN_MS)) {
      try {
        const answer = await ask();
        this.loaded();
        onTurn(false);
        return answer;
      } catch (caught) {
        const error = /** @type {Error & {status?: number}} */ (caught);
        if (!isPassing(error)) {
          showPanels();
          throw error;
        }
        this.failed(error);
        onTurn(true);
        await new Promise((done) => setTimeout(done, wait));
      }
    }
  }

  /**
   * The answer that the whole page needs, obtained as by persist(): from a failure until a success, only the heading
   * and the notice are shown.
   *
   * @template T
   * @param {() => Promise<T>} ask
   * @returns {Promise<T>}
   */
  need(ask) {
    return this.persist(ask, (failed) => $('main').toggleAttribute('data-absent', failed));
  }

  /**
   * The first answer of a list, obtained as by persist(): after a failure its box no longer says “Loading …”.
   *
   * @template T
   * @param {HTMLElement} box
   * @param {() => Promise<T>} ask
   * @returns {Promise<T>}
   */
  async first(box, ask) {
    const turned = (/** @type {boolean} */ failed) => failed && $(':scope > p', box)?.remove();
    try {
      return await this.persist(ask, turned);
    } catch (error) {
      turned(true);
      throw error;
    }
  }

  loaded() {
    this.loadedAt = Date.now();
    this.forget();
    if (!this.everywhere) showPanels();
  }

  /** Takes the outcome of a request: its error, or null after a success. @param {any} error */
  turn(error) {
    if (error) this.failed(error);
    else this.loaded();
  }

  /** @param {any} error */
  failed(error) {
    logError(error);
    this.error = error;
    failing.add(this);
    if (!this.everywhere) showPanels();
    setTimeout(show, SHOW_MS);
  }

  /** Removes the part from the notice, for example when it has been loaded or is no longer shown. */
  forget() {
    this.error = null;
    if (failing.delete(this)) setTimeout(show, SHOW_MS);
  }
}

/**
 * Lines about parts: {loadedAt, name, error} of each. Parts with the same reason share a line.
 *
 * @param {Iterable<{ name: string, loadedAt: number, error: any }>} parts
 */
function partLines(parts) {
  /** @type {Map<string, string[]>} */
  const lines = new Map();
  for (const { name, loadedAt, error } of parts) {
    const key = `${loadedAt ? 'Not up to date' : 'Not loaded'}\n${sentence(error.message)}`;
    const names = lines.get(key) ?? [];
    lines.set(key, [...names, loadedAt ? `${name} (as of ${wallClock(loadedAt)})` : name]);
  }
  return [...lines].map(([key, names]) => {
    const [what, why] = key.split('\n');
    return `${what}: ${names.join(', ')}. ${why}`;
  });
}

function show() {
  const box = $('#failing-parts') ?? h('div', { class: 'notice bad', id: 'failing-parts', role: 'status' });
  if (!box.isConnected) document.body.insertBefore(box, $('#content')?.nextSibling ?? document.body.firstChild);
  box.hidden = !failing.size;
  fill(
    box,
    partLines(failing).map((line) => h('p', {}, line)),
  );
}
