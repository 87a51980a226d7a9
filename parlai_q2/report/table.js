// A table of records: selected, ordered and drawn a page at a time. It shows
//   noun      what the records are called
//   records   the records
//   columns   {name, key, minor}: key(record) gives what a click on the heading orders by
//   orders    {name, key}: further orders
//   start     {order, down}: the order to begin with
//   filters   {id, options, fits}: a list of [value, text], and whether a record fits one
//   haystack  what a search looks for words in
//   rowOf     a record's row, which has open(wanted), and the row below it
function showTable({ noun, records, columns, orders: more, start, filters, haystack, rowOf }) {
  const orders = [...columns.filter((c) => c.key), ...more];
  const state = { ...start, page: 0, rows: 25, found: [] };
  records.forEach((record, place) => { record.place = place; });

  function select() {
    const sought = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const asked = filters.map(({ id, fits }) => [byId(id).value, fits])
      .filter(([value]) => value !== '');
    state.found = records.filter((record) => asked.every(([value, fits]) => fits(record, value))
      && sought.every((word) => hay(record).includes(word)));
    const { key } = orders.find((o) => o.name === state.order);
    const sign = state.down ? -1 : 1;
    state.found.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      return (x < y ? -sign : x > y ? sign : 0) || a.place - b.place;
    });
    state.page = 0;
    draw();
  }

  function hay(record) {
    record.words = record.words || haystack(record).toLowerCase();
    return record.words;
  }

  function draw() {
    const { found, rows } = state;
    const pages = Math.max(1, Math.ceil(found.length / rows));
    state.page = Math.min(Math.max(state.page, 0), pages - 1);
    const from = state.page * rows;
    const shown = found.slice(from, from + rows);
    byId('rows').replaceChildren(...shown.flatMap(rowOf));
    const all = records.length.toLocaleString('en');
    byId('status').textContent = found.length === 0 ? `None of ${all} ${noun} match.`
      : `${(from + 1).toLocaleString('en')} to ${(from + shown.length).toLocaleString('en')} of `
        + `${found.length.toLocaleString('en')}`
        + (found.length < records.length ? ` (of ${all} in all)` : '');
    byId('page').value = state.page + 1;
    byId('page').max = pages;
    byId('page-count').textContent = pages.toLocaleString('en');
    byId('previous').disabled = state.page === 0;
    byId('next').disabled = state.page === pages - 1;
    for (const head of byId('columns').querySelectorAll('th[data-order]')) {
      const sorted = head.dataset.order === state.order;
      head.setAttribute('aria-sort', !sorted ? 'none' : state.down ? 'descending' : 'ascending');
    }
    byId('order').value = `${state.order} ${state.down ? 'down' : 'up'}`;
    for (const column of document.querySelectorAll('.column')) {
      column.classList.toggle('chosen', column.dataset.bin === byId('bin').value);
    }
  }

  function fill(id, options) {
    byId(id).replaceChildren(...options.map(([value, text]) => el('option', { value }, text)));
  }

  function heading({ name, key, minor }) {
    const kind = minor ? 'minor' : null;
    if (!key) return el('th', { scope: 'col', class: kind }, name);
    const button = el('button', { type: 'button' }, name);
    button.addEventListener('click', () => {
      state.down = state.order === name ? !state.down : false;
      state.order = name;
      select();
    });
    return el('th', { scope: 'col', class: kind, 'data-order': name }, button);
  }

  for (const { id, options } of filters) {
    fill(id, options);
    byId(id).addEventListener('change', select);
  }
  fill('order', orders.flatMap(({ name }) => [[`${name} up`, `${name} ↑`],
    [`${name} down`, `${name} ↓`]]));
  byId('columns').append(el('th', {}, el('span', { class: 'hidden' }, 'Evidence')),
    ...columns.map(heading));
  let waiting = 0;
  byId('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(select, 150);
  });
  byId('order').addEventListener('change', () => {
    const [, name, way] = byId('order').value.match(/^(.*) (up|down)$/);
    state.order = name;
    state.down = way === 'down';
    select();
  });
  byId('controls').addEventListener('submit', (event) => event.preventDefault());
  const turn = (page) => {
    state.page = page;
    draw();
    // A page is read from its beginning.
    const { top } = byId('responses').getBoundingClientRect();
    if (top < 0) byId('responses').scrollIntoView();
  };
  byId('previous').addEventListener('click', () => turn(state.page - 1));
  byId('next').addEventListener('click', () => turn(state.page + 1));
  byId('page').addEventListener('change', () => turn((Number(byId('page').value) || 1) - 1));
  byId('rows-per-page').addEventListener('change', () => {
    state.rows = Number(byId('rows-per-page').value);
    turn(0);
  });
  byId('open-all').addEventListener('click', () => {
    const rows = [...document.querySelectorAll('tr.response')];
    const wanted = rows.some((row) => row.nextElementSibling.hidden);
    rows.forEach((row) => row.open(wanted));
  });
  for (const column of document.querySelectorAll('.column')) {
    const { bin } = column.dataset;
    column.addEventListener('click', () => {
      byId('bin').value = byId('bin').value === bin ? '' : bin;
      select();
    });
  }
  window.addEventListener('beforeprint', () => {
    document.querySelectorAll('details').forEach((d) => { d.open = true; });
  });
  for (const id of ['controls', 'responses', 'pages', 'open-all']) byId(id).hidden = false;
  select();
}

// The row of a record, with a row below that opens: detail(pick) fills it, and a click on
// a mark of the response opens it and picks the lines that the mark stands for.
function openingRow(record, width, detail, cells, pickIn) {
  const id = `detail-${record.place}`;
  const toggle = el('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false',
    'aria-controls': id, 'aria-label': `Evidence for record ${record.id}` });
  const below = el('tr', { class: 'below', id, hidden: true });
  const pick = (places) => { open(true); pickIn(below, places); };
  const open = opening(toggle, below, () => el('td', { colspan: width + 1 }, detail(pick)));
  const row = el('tr', { class: 'response' }, el('td', { class: 'toggle-cell' }, toggle),
    ...cells(pick));
  row.open = open;
  return [row, below];
}

// The choices of a list: all, and each value that occurs.
const choicesOf = (values) => [['', 'all'],
  ...[...new Set(values)].filter(Boolean).sort().map((value) => [value, words(value)])];
