// What a page can do besides being read: light and dark, code that is copied, and the call to a service on this machine.
(() => {
  const root = document.documentElement;
  const theme = document.getElementById('theme');
  const isDark = () =>
    (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) ===
    'dark';
  const nameTheme = () => (theme.textContent = isDark() ? 'Light' : 'Dark');
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    nameTheme();
    try {
      localStorage.setItem('theme', root.dataset.theme);
    } catch {
      // The choice holds for this page alone.
      theme.title = 'this browser keeps no choice';
    }
  });
  nameTheme();
  theme.hidden = false;

  for (const contents of document.querySelectorAll('.contents')) {
    contents.open = matchMedia('(min-width: 60rem)').matches;
    contents.dataset.opened = '';
  }

  for (const code of document.querySelectorAll('pre > code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    });
    button.addEventListener('blur', () => (button.textContent = 'Copy'));
    code.parentElement.before(button);
  }
  // A part that scrolls sideways has to be reached by keyboard, too.
  for (const box of document.querySelectorAll('pre, .wide'))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;

  // The command that lets this site call names this site.
  for (const place of document.querySelectorAll('.this-origin')) place.textContent = location.origin;
})();
