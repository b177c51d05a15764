'use strict';
// The frame: theme, sidebar, palette, shortcuts. Everything is delegated, so that swapped-in content works too.
(() => {
  const root = document.documentElement;
  const keep = (name, value) => { document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`; };
  const typing = (target) => target.closest('input, textarea, select, [contenteditable]') !== null;

  document.addEventListener('click', (event) => {
    if (event.target.closest('[data-theme-switch]')) {
      root.dataset.theme = root.classList.contains('dark') ? 'light' : 'dark';
      root.classList.toggle('dark', root.dataset.theme === 'dark');
      keep('handrail_theme', root.dataset.theme);
    } else if (event.target.closest('[data-fold]')) {
      const narrow = document.querySelector('.frame').classList.toggle('frame-narrow');
      keep('handrail_nav', narrow ? 'narrow' : 'wide');
    } else if (event.target.closest('[data-palette]')) {
      openPalette();
    } else if (event.target.closest('[data-copy]')) {
      copy(event.target.closest('[data-copy]'));
    }
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    say('Copied');
  }

  function say(text) {
    const note = document.createElement('p');
    note.className = 'toast-note';
    note.textContent = text;
    document.getElementById('toasts')?.append(note);
    setTimeout(() => note.remove(), 4000);
  }
  window.handrail = { say, typing };

  function openPalette() {
    const dialog = document.getElementById('palette');
    if (!dialog || dialog.open) return;
    dialog.showModal();
    const words = document.getElementById('palette-words');
    words.value = '';
    words.focus();
    words.dispatchEvent(new Event('open'));
  }

  function walk(step) {
    const rows = [...document.querySelectorAll('#palette-found .palette-row')];
    const at = rows.findIndex((row) => row.getAttribute('aria-selected') === 'true');
    const next = rows[(at + step + rows.length) % rows.length];
    for (const row of rows) row.setAttribute('aria-selected', String(row === next));
    next?.scrollIntoView({ block: 'nearest' });
  }

  const goals = { h: '/', t: '/tools', r: '/runs', a: '/approvals' };
  let going = 0;
  document.addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
      event.preventDefault();
      openPalette();
      return;
    }
    if (event.target.id === 'palette-words') {
      if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
        event.preventDefault();
        walk(event.key === 'ArrowDown' ? 1 : -1);
      } else if (event.key === 'Enter') {
        event.preventDefault();
        (document.querySelector('#palette-found [aria-selected="true"]') ?? document.querySelector('#palette-found .palette-row'))?.click();
      }
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target) || document.querySelector('dialog[open]')) return;
    if (event.key === '?') {
      document.getElementById('shortcuts')?.showModal();
    } else if (event.key === 'g') {
      going = Date.now();
    } else if (goals[event.key] && Date.now() - going < 1500) {
      event.preventDefault();
      event.stopImmediatePropagation();
      location.href = goals[event.key];
    }
  });
})();
