// On every page: the theme button.

import { themeChanged } from '../lib/colors.js';

const button = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');

function current() {
  return document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light');
}

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
document.querySelector('.top nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); // a narrow bar scrolls
system.addEventListener('change', () => {
  label();
  themeChanged();
});
label();
