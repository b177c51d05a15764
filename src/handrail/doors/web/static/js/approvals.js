'use strict';
// Approvals by keyboard, a second look before what cannot be taken back, and nothing typed is lost to news.
(() => {
  const cards = () => [...document.querySelectorAll('.ask')];
  const here = () => document.activeElement?.closest?.('.ask') ?? (cards().length === 1 ? cards()[0] : null);

  function move(step) {
    const all = cards();
    if (!all.length) return;
    const at = all.indexOf(document.activeElement?.closest?.('.ask'));
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
    next.focus();
    next.scrollIntoView({ block: 'nearest' });
  }

  function act(card, name) {
    if (name === 'edit') {
      card.querySelector('a[data-act="edit"]')?.click();
      return;
    }
    if (name === 'approve') {
      card.querySelector('form[data-act="approve"]')?.requestSubmit();
      return;
    }
    const fold = card.querySelector(`details[data-act="${name}"]`);
    if (!fold) return;
    fold.open = true;
    release(card);
    fold.querySelector('textarea')?.focus();
  }

  const keys = { a: 'approve', e: 'edit', r: 'reject' };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || event.repeat) return;
    if (!document.querySelector('.ask') || document.querySelector('dialog[open]')) return;
    if (event.key === 'Escape') {
      const fold = event.target.closest?.('.ask-fold[open]');
      if (fold) {
        fold.open = false;
        fold.closest('.ask').focus();
      }
      return;
    }
    if (window.handrail.typing(event.target)) return;
    if (event.key === 'j' || event.key === 'k') {
      move(event.key === 'j' ? 1 : -1);
    } else if (keys[event.key]) {
      const card = here();
      if (!card) return;
      event.preventDefault();
      act(card, keys[event.key]);
    }
  });

  // What cannot be taken back takes one more press, within the same stay at the card.
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-sure]');
    if (!form || form.dataset.sure === 'sure') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    form.dataset.sure = 'sure';
    const card = form.closest('.ask');
    const told = card.querySelector('.ask-sure');
    if (told) told.hidden = false;
    card.querySelector('[id$="-acts"]')?.setAttribute('hx-morph-skip', '');
  }, true);
  document.addEventListener('focusout', (event) => {
    const card = event.target.closest?.('.ask');
    if (!card || (event.relatedTarget && card.contains(event.relatedTarget))) return;
    const form = card.querySelector('form[data-sure="sure"]');
    if (!form || event.relatedTarget === null) return;
    form.dataset.sure = 'yes';
    const told = card.querySelector('.ask-sure');
    if (told) told.hidden = true;
    release(card);
  });

  // News may redraw a card at any time: its forms stay as they are while somebody has opened or filled them.
  const busy = (acts) => acts.querySelector('details[open]') !== null
    || [...acts.querySelectorAll('textarea, input[type="checkbox"]')].some((one) => one.checked || (one.type !== 'checkbox' && one.value !== one.defaultValue));
  function release(card) {
    const acts = card?.querySelector('[id$="-acts"]');
    if (!acts) return;
    if (busy(acts)) acts.setAttribute('hx-morph-skip', '');
    else acts.removeAttribute('hx-morph-skip');
  }
  for (const name of ['toggle', 'input', 'change']) {
    document.addEventListener(name, (event) => release(event.target.closest?.('.ask')), true);
  }
  // What was opened to be read stays open: it holds values, which do not change.
  document.addEventListener('toggle', (event) => {
    if (event.target.closest?.('.ask') && !event.target.matches('.ask-fold')) event.target.toggleAttribute('hx-morph-skip', event.target.open);
  }, true);
  // A decision of one's own redraws all of the card.
  document.addEventListener('htmx:before:request', (event) => {
    const card = event.target.closest?.('form[data-act]')?.closest('.ask');
    for (const kept of card?.querySelectorAll('[id$="-acts"], [id$="-tried"]') ?? []) kept.removeAttribute('hx-morph-skip');
  });
})();
