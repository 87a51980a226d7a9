// What a table keeps in its records, out of the way of their own fields.
const PLACE = Symbol('place');
const SOUGHT = Symbol('the text that a search looks in');

// A table of records that can be filtered, sorted and searched, drawn a page at a time.
//   noun      the name of a record
//   records   the records
//   columns   {name, key, kind, cell}: a click on the heading sorts by key(record), kind is
//             the CSS class, cell(record, pick) gives what the cell shows, and a click on a
//             mark in it calls pick(places)
//   orders    {name, key}: further sort orders
//   start     {order, down}: the initial sort order
//   filters   {id, options, fits}: options are [value, text]; fits(record, value) tells
//             whether a record matches one
//   haystack  haystack(record) is the text that a search looks in
//   detail    detail(record, pick) gives what a row opens
//   pickIn    pickIn(box, places) highlights the lines of a mark in an open detail
function showTable({
  noun, records, columns, orders: more, start, filters, haystack, detail, pickIn,
}) {
  const orders = [...columns.filter((c) => c.key), ...more];
  const state = { page: 0, found: [] };
  records.forEach((record, place) => { record[PLACE] = place; });

  // The controls hold the state of the view; page is the page to show, from 1.
  function select(page = 1) {
    const sought = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = filters.map(({ id, fits }) => [byId(id).value, fits])
      .filter(([value]) => value !== '');
    state.found = records.filter((record) => asked.every(([value, fits]) => fits(record, value))
      && sought.every((word) => hay(record).includes(word)));
    const { name, down } = order();
    const { key } = orders.find((o) => o.name === name);
    const sign = down ? -1 : 1;
    state.found.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return (x < y ? -sign : x > y ? sign : 0) || a[PLACE] - b[PLACE];
    });
    state.page = page - 1;
    draw();
  }

  function hay(record) {
    record[SOUGHT] ??= haystack(record).toLowerCase();
    return record[SOUGHT];
  }

  function order() {
    const [, name, way] = byId('order').value.match(/^(.*) (up|down)$/);
    return { name, down: way === 'down' };
  }

  const pageAsked = () => Math.trunc(Number(byId('page').value)) || 1;

  const rowsPerPage = () => Number(byId('rows-per-page').value);

  function shown() {
    const { found, page } = state;
    const from = page * rowsPerPage();
    return { found, from, to: Math.min(from + rowsPerPage(), found.length) };
  }

  function tell(from, to) {
    const [first, last, count, all] = [from + 1, to, state.found.length, records.length]
      .map((n) => n.toLocaleString('en'));
    byId('status').textContent = count === '0'
      ? `None of ${all} ${noun}${all === '1' ? '' : 's'} match.`
      : `${first} to ${last} of ${count}${count === all ? '' : ` (of ${all} in all)`}`;
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(state.found.length / rowsPerPage()));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const { found, from, to } = shown();
    byId('rows').replaceChildren(...found.slice(from, to).flatMap(rowOf));
    tell(from, to);
    byId('page').value = state.page + 1;
    byId('page').max = pages;
    byId('page-count').textContent = pages.toLocaleString('en');
    byId('previous').disabled = state.page === 0;
    byId('next').disabled = state.page === pages - 1;
    const { name, down } = order();
    for (const head of byId('columns').querySelectorAll('th[data-order]')) {
      const sorted = head.dataset.order === name;
      head.setAttribute('aria-sort', !sorted ? 'none' : down ? 'descending' : 'ascending');
    }
    for (const column of document.querySelectorAll('.column')) {
      column.classList.toggle('chosen', column.dataset.bin === byId('bin').value);
    }
  }

  function fill(id, options) {
    byId(id).replaceChildren(...options.map(([value, text]) => el('option', { value }, text)));
  }

  const rowOf = (record) => openingRow(record, columns, detail, pickIn);

  function heading({ name, key, kind: kinds = '' }) {
    const kind = kinds.includes('minor') ? 'minor' : null;
    if (!key) return el('th', { scope: 'col', class: kind }, name);
    const button = el('button', { type: 'button' }, name);
    button.addEventListener('click', () => {
      const { name: old, down } = order();
      byId('order').value = `${name} ${old === name && !down ? 'down' : 'up'}`;
      changed();
    });
    return el('th', { scope: 'col', class: kind, 'data-order': name }, button);
  }

  filters.forEach(({ id, options }) => fill(id, options));
  fill('order', orders.flatMap(({ name }) => [[`${name} up`, `${name} ↑`],
    [`${name} down`, `${name} ↓`]]));
  byId('columns').append(el('th', {}, el('span', { class: 'hidden' }, 'Evidence')),
    ...columns.map(heading));
  const keep = addressed({
    search: '',
    ...Object.fromEntries(filters.map(({ id, options }) => [id, options[0][0]])),
    order: `${start.order} ${start.down ? 'down' : 'up'}`,
    'rows-per-page': '25',
    page: '1',
  }, () => {
    clearTimeout(waiting);
    select(pageAsked());
  });
  // A search begins when no letter has followed for a while, or something else is done.
  let waiting = 0;
  const changed = (letter = false) => {
    clearTimeout(waiting);
    waiting = 0;
    select();
    keep(letter);
  };
  for (const id of [...filters.map((filter) => filter.id), 'order']) {
    byId(id).addEventListener('change', () => changed());
  }
  byId('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(changed, 150, true);
  });
  byId('controls').addEventListener('submit', (event) => event.preventDefault());
  const turn = (pageOf) => {
    if (waiting) changed(true);
    state.page = pageOf();
    draw();
    keep();
    // Start reading at the top of the new page.
    const { top } = byId('responses').getBoundingClientRect();
    if (top < 0) byId('responses').scrollIntoView();
  };
  byId('previous').addEventListener('click', () => turn(() => state.page - 1));
  byId('next').addEventListener('click', () => turn(() => state.page + 1));
  byId('page').addEventListener('change', () => {
    const asked = pageAsked() - 1;
    turn(() => asked);
  });
  byId('rows-per-page').addEventListener('change', () => turn(() => 0));
  byId('open-all').addEventListener('click', () => {
    const rows = [...document.querySelectorAll('tr.response')];
    const wanted = rows.some((row) => row.nextElementSibling.hidden);
    rows.forEach((row) => row.open(wanted));
  });
  for (const column of document.querySelectorAll('.column')) {
    const { bin } = column.dataset;
    column.addEventListener('click', () => {
      byId('bin').value = byId('bin').value === bin ? '' : bin;
      changed();
    });
  }
  for (const id of ['controls', 'responses', 'pages', 'open-all']) byId(id).hidden = false;
  select(pageAsked());
}

// The row of a record, which has open(wanted), and below it a row that opens.
function openingRow(record, columns, detail, pickIn) {
  const id = `detail-${record[PLACE]}`;
  const toggle = el('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false',
    'aria-controls': id, 'aria-label': `Evidence for record ${record.id}` });
  const below = el('tr', { class: 'below', id, hidden: true });
  const pick = (places) => { open(true); pickIn(below, places); };
  const open = opening(toggle, below,
    () => el('td', { colspan: columns.length + 1 }, detail(record, pick)));
  const row = el('tr', { class: 'response' }, el('td', { class: 'toggle-cell' }, toggle),
    columns.map(({ name, kind = null, cell }) => el('td', { class: kind, 'data-name': name,
      dir: 'auto' }, cell(record, pick))));
  row.open = open;
  return [row, below];
}

// The options of a filter: all, and each value that occurs.
const choicesOf = (values) => [['', 'all'],
  ...[...new Set(values)].filter(Boolean).sort().map((value) => [value, words(value)])];
