'use strict';
// Tables of results: a click on a heading sorts the rows that are here, and the link stays for whoever has no script.
(() => {
  const of = (row, at) => {
    const cell = row.cells[at];
    const number = cell?.querySelector(':scope > data')?.value;
    if (number !== undefined) return [0, Number(number), ''];
    if (cell?.querySelector(':scope > .view-none')) return [2, 0, ''];
    return [1, 0, (cell?.textContent ?? '').toLocaleLowerCase()];
  };

  const compare = (one, other) => one[1] - other[1] || one[2].localeCompare(other[2]);

  function sort(table, head) {
    const at = head.cellIndex;
    const down = head.getAttribute('aria-sort') === 'ascending';
    for (const other of head.parentElement.cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [of(row, at), row]);
    // Numbers before texts or after them, but what is not there always comes last.
    rows.sort(([one], [other]) => {
      if (one[0] === 2 || other[0] === 2) return one[0] - other[0];
      return (down ? -1 : 1) * (one[0] - other[0] || compare(one, other));
    });
    body.append(...rows.map(([, row]) => row));
  }

  document.addEventListener('click', (event) => {
    const link = event.target.closest('table[data-view-sort] thead th .view-sort');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const table = link.closest('table');
    if (table.dataset.viewSort !== 'whole') return; // rows that are not here belong into the order too
    event.preventDefault();
    sort(table, link.closest('th'));
  });
})();
