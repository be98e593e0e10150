// Parts of every page: theme, command palette, toolbars, faults of the twin, and reports of errors to the server.

import { ApiError, SESSION_ENDED, statusSentence } from '../core/api.js';
import { tellUncaught } from '../core/client-errors.js';
import { themeChanged } from '../util/colors.js';
import { badgeText } from '../util/alert-words.js';
import { faults } from '../util/health-text.js';
import { $$, h, setText } from '../ui/dom.js';
import { PagePart } from '../ui/failures/page-part.js';
import { preparePaper } from '../ui/pictures/paper.js';
import { tellUnknown } from '../ui/address/query.js';
import { submitOnce } from '../ui/fields/submit-once.js';
import { toolbar } from '../ui/toolbar.js';
import { Palette } from '../search/palette.js';

tellUncaught();
tellUnknown();
submitOnce();
const button = document.getElementById('theme');
const current = () => document.documentElement.dataset.theme;

function label() {
  button.textContent = current() === 'dark' ? 'Light' : 'Dark';
}

button?.addEventListener('click', () => {
  const next = current() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem('theme', next);
  } catch {
    // Without storage the choice lasts for this page.
  }
  label();
  themeChanged();
});
const nav = document.querySelector('.top > nav');
// narrow, it scrolls; it fades where it continues
nav?.addEventListener('scroll', () => nav.toggleAttribute('data-scrolled', nav.scrollLeft > 0), { passive: true });
nav?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  label();
  themeChanged();
});
label();
preparePaper();
for (const element of $$('[role="toolbar"]')) toolbar(element);

const search = document.getElementById('search');
let palette = null;

function openPalette() {
  palette ??= new Palette(); // at once, so that it receives the next key
  palette.open();
}

search?.addEventListener('click', openPalette);
if (search) {
  addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openPalette();
  });
}

const HEALTH_MS = 5000;
const FAULTY = 503; // status of the answer during a fault
const MAX_POLL_MS = 4000; // of one poll
const LATE = `The server has not answered within ${MAX_POLL_MS / 1000} s.`;
const FAULTY_MS = 2000; // between two polls during a fault
const notice = document.getElementById('health');
let missed = 0; // failed polls in a row
const checks = new PagePart('state of the twin and open alerts', true);

async function checkHealth() {
  setTimeout(checkHealth, notice.hidden ? HEALTH_MS : FAULTY_MS);
  if (document.hidden) return;
  const health = await askHealth().catch(missedHealth);
  if (!health) return;
  missed = 0;
  checks.loaded();
  const found = faults(health);
  countAlerts(health.alerts);
  notice.replaceChildren(...found.map((text) => h('p', {}, text)));
  notice.hidden = !found.length;
}

/** Report of a failed poll; a single one without an answer is ignored: the machine may be busy. @param {any} error */
function missedHealth(error) {
  missed++;
  if (error.status !== 0 || missed > 1) checks.failed(error);
}

/** The state of the twin. */
async function askHealth() {
  const signal = AbortSignal.timeout(MAX_POLL_MS);
  const response = await fetch('/healthz/shared', { signal }).catch(() => {
    throw new ApiError(signal.aborted ? LATE : 'The server cannot be reached.', 0);
  });
  if (response.redirected) throw new ApiError(SESSION_ENDED, 401); // to the login page
  const health = [200, FAULTY].includes(response.status) && (await response.json().catch(() => null));
  if (!health && signal.aborted) throw new ApiError(LATE, 0); // while the answer was being read
  if (!health) throw new ApiError(statusSentence(response.status), response.status);
  return health;
}

/** Number of open alerts beside the link to their page; its place is kept. */
function countAlerts(open) {
  const badge = document.getElementById('alert-count');
  if (!badge || !open) return;
  setText(badge, badgeText(open));
  badge.dataset.level = open.serious ? 'serious' : 'notable';
  badge.title = badge.textContent ? `Open alerts that nobody has acknowledged: ${badge.textContent}` : '';
}

if (notice) checkHealth();
