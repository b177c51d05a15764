/* Forms: what is nicer with a script. Everything here works without one, by a button and the server. */
(() => {
  'use strict';

  const value = (form, name) => {
    const found = form.elements.namedItem(name);
    if (!found) return null;
    if (found instanceof RadioNodeList) {
      const controls = [...found];
      const box = controls.find((one) => one.type === 'checkbox');
      return box ? String(box.checked) : found.value;
    }
    return found.type === 'checkbox' ? String(found.checked) : found.value;
  };

  const show = (form) => {
    for (const part of form.querySelectorAll('[data-when]')) {
      const terms = JSON.parse(part.dataset.when);
      const known = terms.filter((term) => form.elements.namedItem(term.name));
      if (known.length < terms.length) continue;
      part.hidden = !terms.every((term) => term.any.includes(value(form, term.name)) !== term.not);
    }
  };

  const offset = () => {
    const minutes = -new Date().getTimezoneOffset();
    if (minutes === 0) return 'Z';
    const two = (number) => String(number).padStart(2, '0');
    const size = Math.abs(minutes);
    return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  };

  const zones = (root) => {
    for (const select of root.querySelectorAll('select[data-zone]')) {
      const own = offset();
      if ([...select.options].some((option) => option.value === own)) select.value = own;
      select.removeAttribute('data-zone');
    }
  };

  let waiting = 0;
  const search = (box) => {
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const address = new URL(box.dataset.search, location.href);
      address.searchParams.set('type', box.dataset.type);
      address.searchParams.set('q', box.value);
      const answer = await fetch(address, { headers: { Accept: 'application/json' } });
      if (!answer.ok) return;
      const list = document.getElementById(box.getAttribute('list'));
      const found = await answer.json();
      list?.replaceChildren(
        ...found.map((one) => {
          const option = document.createElement('option');
          option.value = one.value;
          option.label = one.label;
          return option;
        }),
      );
    }, 150);
  };

  const press = (form, prefix, from) => {
    const near = from.closest('.form-which')?.querySelector(`button[value^="${prefix}:"]`);
    if (near) form.requestSubmit(near);
  };

  document.addEventListener('input', (event) => {
    const box = event.target;
    if (!box.form || !box.closest('.form')) return;
    if (box.dataset.search) search(box);
    if ('slider' in box.dataset) {
      box.parentElement.querySelector('output').textContent = box.value;
      fill(box);
    }
    show(box.form);
  });

  document.addEventListener('change', (event) => {
    const box = event.target;
    if (!box.form || !box.closest('.form')) return;
    show(box.form);
    if ('choose' in box.dataset) press(box.form, 'choose', box);
  });

  for (const name of ['dragover', 'dragleave', 'drop']) {
    document.addEventListener(name, (event) => {
      const zone = event.target instanceof Element ? event.target.closest('[data-drop]') : null;
      if (!zone) return;
      event.preventDefault();
      zone.toggleAttribute('data-over', name === 'dragover');
      if (name !== 'drop' || !event.dataTransfer) return;
      const box = zone.querySelector('input[type=file]');
      const kept = new DataTransfer();
      const files = [...event.dataTransfer.files];
      for (const file of box.multiple ? [...box.files, ...files] : files.slice(0, 1)) kept.items.add(file);
      box.files = kept.files;
      box.dispatchEvent(new Event('change', { bubbles: true }));
    });
  }

  const fill = (box) => {
    const [low, high] = [Number(box.min || 0), Number(box.max || 100)];
    box.style.setProperty('--slider-value', `${((box.value - low) / (high - low || 1)) * 100}%`);
  };

  const begin = (root) => {
    zones(root);
    for (const box of root.querySelectorAll('input[data-slider]')) fill(box);
    for (const form of new Set([...root.querySelectorAll('.form')].map((one) => one.closest('form')))) {
      if (form) show(form);
    }
  };
  begin(document);
  document.addEventListener('htmx:after:swap', () => begin(document));
})();
