// The table of responses: selected, ordered and drawn a page at a time.
const gain = (e) => gainOf(e.rerank) ?? -2; // those without a gain come first
const classed = entries.some((e) => e.class);
const reranked = entries.some((e) => e.rerank.length);
const columns = [
  { name: 'Score', key: (e) => e.score },
  { name: 'Label', key: (e) => e.label },
  { name: 'Response', key: null },
  { name: 'Questions', key: (e) => e.verdicts.length },
  ...(classed ? [{ name: 'Annotation', key: (e) => e.class }] : []),
  { name: 'Record', key: (e) => e.place },
];
const orders = [
  ...columns.filter((c) => c.key),
  ...(reranked ? [{ name: 'Gain', key: gain }] : []),
];
const state = { order: 'Record', down: false, page: 0, rows: 25, found: [] };
entries.forEach((entry, place) => { entry.place = place; });

function rowOf(entry) {
  const id = `detail-${entry.place}`;
  const toggle = el('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false',
    'aria-controls': id, 'aria-label': `Evidence for record ${entry.id}` });
  const below = el('tr', { class: 'below', id, hidden: true });
  const pick = (places) => { open(true); pickLines(below, places); };
  const open = opening(toggle, below, () => el('td', { colspan: columns.length + 1 },
    detailOf(entry, pick)));
  const row = el('tr', { class: 'response' },
    el('td', { class: 'toggle-cell' }, toggle),
    el('td', { class: 'number' }, scoreOf(entry.score)),
    el('td', {}, labelOf(entry.label)),
    el('td', { class: 'said' }, marked(entry.response, entry.verdicts, pick, CLIP),
      gainBadge(entry.rerank)),
    el('td', { class: 'number minor' }, String(entry.verdicts.length)),
    ...(classed ? [el('td', { class: 'minor' }, words(entry.class))] : []),
    el('td', { class: 'minor id', dir: 'auto' }, entry.id));
  row.open = open;
  return [row, below];
}

function haystack(entry) {
  entry.words = entry.words || [entry.id, plain(entry.response), plain(entry.knowledge),
    ...entry.history].join('\n').toLowerCase();
  return entry.words;
}

const has = {
  any: () => true,
  contradicted: (e) => e.verdicts.some((v) => v.status === 'contradicted'),
  unsupported: (e) => e.verdicts.some((v) => v.status === 'unsupported'),
  supported: (e) => e.verdicts.length > 0
    && e.verdicts.every((v) => v.status === 'supported'),
  none: (e) => !e.verdicts.length,
  fallback: (e) => e.fallback,
  changed: (e) => e.rerank.some((c) => c.chosen && !c.first),
};
const binOf = (score) => Math.min(Math.floor(score * 10), 9);

function select() {
  const sought = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
  const [label, kind, bin] = ['label', 'class', 'bin'].map((id) => byId(id).value);
  const fits = has[byId('evidence').value];
  state.found = entries.filter((e) => (label === '' || e.label === label)
    && (kind === '' || e.class === kind) && (bin === '' || binOf(e.score) === Number(bin))
    && fits(e) && sought.every((word) => haystack(e).includes(word)));
  const { key } = orders.find((o) => o.name === state.order);
  const sign = state.down ? -1 : 1;
  state.found.sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return (x < y ? -sign : x > y ? sign : 0) || a.place - b.place;
  });
  state.page = 0;
  draw();
}

function draw() {
  const { found, rows } = state;
  const pages = Math.max(1, Math.ceil(found.length / rows));
  state.page = Math.min(Math.max(state.page, 0), pages - 1);
  const from = state.page * rows;
  const shown = found.slice(from, from + rows);
  byId('rows').replaceChildren(...shown.flatMap(rowOf));
  const all = entries.length.toLocaleString('en');
  byId('status').textContent = found.length === 0 ? `None of ${all} responses match.`
    : `${(from + 1).toLocaleString('en')} to ${(from + shown.length).toLocaleString('en')} of `
      + `${found.length.toLocaleString('en')}`
      + (found.length < entries.length ? ` (of ${all} in all)` : '');
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

// --- the controls

function fill(id, options) {
  byId(id).replaceChildren(...options.map(([value, text]) => el('option', { value }, text)));
}

function setUp() {
  const values = (name) => [...new Set(entries.map((e) => e[name]))].filter(Boolean).sort();
  fill('label', [['', 'all'], ...values('label').map((v) => [v, words(v)])]);
  fill('class', [['', 'all'], ...values('class').map((v) => [v, words(v)])]);
  byId('class-control').hidden = !classed;
  fill('evidence', [['any', 'any'], ['contradicted', 'a contradiction'],
    ['unsupported', 'something unsupported'], ['supported', 'all supported'],
    ['none', 'no questions'], ['fallback', 'fallback used'],
    ...(reranked ? [['changed', 'reranking changed it']] : [])]);
  fill('bin', [['', 'all'], ...Array.from({ length: 10 }, (_, i) =>
    [String(i), `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}`])]);
  fill('order', orders.flatMap(({ name }) => [[`${name} up`, `${name} ↑`],
    [`${name} down`, `${name} ↓`]]));
  byId('columns').append(el('th', {}, el('span', { class: 'hidden' }, 'Evidence')),
    ...columns.map(({ name, key }) => {
      const minor = ['Questions', 'Annotation', 'Record'].includes(name) ? 'minor' : null;
      if (!key) return el('th', { scope: 'col', class: minor }, name);
      const button = el('button', { type: 'button' }, name);
      button.addEventListener('click', () => {
        state.down = state.order === name ? !state.down : false;
        state.order = name;
        select();
      });
      return el('th', { scope: 'col', class: minor, 'data-order': name }, button);
    }));
  let waiting = 0;
  byId('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(select, 150);
  });
  for (const id of ['label', 'class', 'evidence', 'bin']) {
    byId(id).addEventListener('change', select);
  }
  byId('order').addEventListener('change', () => {
    const [name, way] = byId('order').value.split(' ');
    state.order = name;
    state.down = way === 'down';
    select();
  });
  byId('controls').addEventListener('submit', (event) => event.preventDefault());
  const turn = (page) => { state.page = page; draw(); };
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

setUp();
