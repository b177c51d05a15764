'use strict';
// Before anything is drawn: dark or light, as the person or their system likes it.
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const look = () => root.classList.toggle('dark', root.dataset.theme === 'dark' || (root.dataset.theme === 'system' && dark.matches));
  look();
  dark.addEventListener('change', look);
  root.classList.add('script');
})();
