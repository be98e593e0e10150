// Script before the first paint, which sets the saved theme or that of the system, so that the page does not flash. It
// is no module, because modules run too late.
(function () {
  const system = matchMedia('(prefers-color-scheme: dark)');

  function saved() {
    try {
      return localStorage.getItem('theme');
    } catch {
      return null; // without storage the system's theme stays
    }
  }

  function choose() {
    const theme = saved();
    const known = theme === 'light' || theme === 'dark';
    document.documentElement.dataset.theme = known ? theme : system.matches ? 'dark' : 'light';
  }

  choose();
  system.addEventListener('change', choose);
})();
