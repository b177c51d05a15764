'use strict';
// The page of a tool: what is wrong is said while one types, Ctrl or ⌘ with Enter runs, output stays in sight.
(() => {
  const PAUSE = 350;
  const PIECES = 2000; // of output that stand on the page
  const touched = new Set();
  let timer = 0;
  let asked = null;

  const formOf = (target) => target.closest?.('form[data-check]') ?? (target.form?.matches('form[data-check]') ? target.form : null);

  function touch(event) {
    const form = formOf(event.target);
    const name = event.target.name;
    if (event.target.type === 'file') return; // files are not sent to be checked
    if (!form || !name || name.startsWith('_') && name !== '_json') return;
    // While somebody types, nothing new is held against them; what was said already is looked at again.
    if (event.type === 'change') touched.add(name);
    else if (!touched.has(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => check(form), PAUSE);
  }

  async function check(form) {
    asked?.abort();
    asked = new AbortController();
    const data = new FormData(form);
    for (const [name, value] of [...data]) if (value instanceof File) data.delete(name);
    for (const name of touched) data.append('_touched', name);
    try {
      const answer = await fetch(form.dataset.check, { method: 'POST', body: data, signal: asked.signal, headers: { 'HX-Request': 'true' } });
      if (answer.ok && form.isConnected) say(form, new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch (error) {
      if (error.name !== 'AbortError') console.warn('The input could not be checked.', error);
    }
  }

  // Only what is said about fields is taken over: no value, no focus, no field is touched.
  function say(form, fresh) {
    const fields = form.querySelector('#input-fields');
    for (const old of fields.querySelectorAll('.form-error[id], .form-summary')) {
      if (!fresh.getElementById(old.id)) old.remove();
    }
    for (const now of fresh.querySelectorAll('.form-error[id]')) {
      const there = document.getElementById(now.id);
      if (there) { if (there.textContent !== now.textContent) there.replaceWith(now); continue; }
      const control = document.getElementById(now.id.replace(/(:|-)error$/, ''));
      (control?.closest('.form-field, fieldset') ?? control?.parentElement)?.append(now);
    }
    for (const one of fields.querySelectorAll('[id][name], fieldset[id]')) {
      const now = fresh.getElementById(one.id);
      for (const name of ['aria-invalid', 'aria-describedby']) {
        const value = now?.getAttribute(name) ?? null;
        if (value === null) one.removeAttribute(name); else one.setAttribute(name, value);
      }
    }
    for (const one of fields.querySelectorAll('[data-invalid]')) {
      if (!one.querySelector('[aria-invalid]')) one.removeAttribute('data-invalid');
    }
  }

  function clear() {
    touched.clear();
    clearTimeout(timer);
    asked?.abort();
    for (const one of document.querySelectorAll('#input-fields .form-error, #input-fields .form-summary')) one.remove();
    for (const one of document.querySelectorAll('#input-fields [aria-invalid]')) one.removeAttribute('aria-invalid');
  }

  document.addEventListener('input', touch);
  document.addEventListener('change', touch);
  document.addEventListener('handrail:ran', clear);
  document.addEventListener('handrail:wrong', () => document.querySelector('#input-fields [aria-invalid="true"]')?.focus());

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    const run = document.querySelector('[data-run]');
    if (!run || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    run.click();
  });

  // A stream that ends because its part of the page is gone is no error, though the browser takes it for one.
  window.addEventListener('unhandledrejection', (event) => {
    if (event.reason?.name === 'AbortError') event.preventDefault();
  });

  document.addEventListener('htmx:after:swap', () => {
    for (const one of document.querySelectorAll('.tool-output')) {
      while (one.children.length > PIECES) { one.firstElementChild.remove(); one.dataset.cut = 'true'; }
      one.scrollTop = one.scrollHeight;
    }
  });
})();
