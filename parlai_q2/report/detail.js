// What opens below a row: knowledge, evidence, candidates, turns before.
function section(title, ...content) {
  return el('section', {}, el('h3', {}, title), ...content);
}

function scrolling(name, content) {
  return el('div', { class: 'passage', tabindex: '0', role: 'region', 'aria-label': name },
    content);
}

function evidence(verdicts) {
  const names = ['Question', 'In the response', 'In the knowledge', 'Comparison', 'Score'];
  const rows = verdicts.map((v) => {
    const cells = [v.question, v.response, v.knowledge === null ? '(no answer)' : v.knowledge,
      v.comparison, fixed(v.score)];
    return el('tr', { class: v.status, tabindex: '-1' }, ...cells.map((text, i) =>
      el('td', { 'data-name': names[i], dir: i < 3 ? 'auto' : null }, text)));
  });
  const head = el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name)));
  return el('table', { class: 'evidence' }, el('thead', {}, head), el('tbody', {}, ...rows));
}

function choiceOf(title, candidate) {
  const score = candidate.score === null ? 'not scored' : fixed(candidate.score);
  return el('div', { class: 'choice' },
    el('h4', {}, `${title} `, el('b', {}, score), ' ', labelOf(candidate.label || 'unknown')),
    el('p', {}, marked(candidate.response, candidate.verdicts, null)),
    candidate.note ? el('p', { class: 'note' }, candidate.note) : null);
}

function reranking(candidates) {
  const first = candidates.find((c) => c.first);
  const chosen = candidates.find((c) => c.chosen);
  const parts = [];
  if (first && first === chosen) {
    parts.push(el('p', {}, "The generator's first candidate stands."));
  } else {
    const pair = el('div', { class: 'pair' });
    if (first) pair.append(choiceOf('Before: first candidate', first));
    if (chosen) pair.append(choiceOf('After: chosen', chosen));
    parts.push(pair);
  }
  const names = ['', 'Score', 'Label', 'Generator', 'From', 'Candidate'];
  const rows = candidates.map((c, i) => {
    const role = [c.first ? 'first' : '', c.chosen ? 'chosen' : ''].filter(Boolean);
    const cells = [[i + 1, ...role].join(' '), fixed(c.score), words(c.label),
      fixed(c.generator), c.strategies.join(', ')];
    return el('tr', { class: c.chosen ? 'chosen' : null },
      ...cells.map((text, n) => el('td', { 'data-name': names[n] }, text)),
      el('td', { 'data-name': names[5] }, marked(c.response, c.verdicts, null),
        c.note ? el('p', { class: 'note' }, c.note) : null));
  });
  const head = el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name)));
  const table = el('table', { class: 'candidates' }, el('thead', {}, head),
    el('tbody', {}, ...rows));
  parts.push(el('details', {}, el('summary', {}, `All ${candidates.length} candidates`), table));
  return section('Reranking', ...parts);
}

function detailOf(entry, pick) {
  const box = el('div', { class: 'detail' });
  if (plain(entry.response).length > CLIP) {
    const whole = marked(entry.response, entry.verdicts, pick);
    box.append(section('Response', scrolling('Response', whole)));
  }
  box.append(section('Knowledge',
    scrolling('Knowledge', marked(entry.knowledge, entry.verdicts, pick))));
  if (entry.verdicts.length) {
    box.append(section('Evidence', evidence(entry.verdicts)));
  } else {
    box.append(section('Evidence', el('p', { class: 'note' }, entry.fallback
      ? 'No valid question: the response was compared with the knowledge as a whole.'
      : 'This score comes without questions.')));
  }
  if (entry.rerank.length) box.append(reranking(entry.rerank));
  if (entry.history.length) {
    box.append(section('Turns before', scrolling('Turns before', el('ol', {},
      ...entry.history.map((turn) => el('li', { class: 'text', dir: 'auto' }, turn))))));
  }
  const facts = Object.entries(entry.parts).map(([name, n]) => `${name} ${fixed(n, 3)}`);
  if (entry.fallback && entry.verdicts.length) facts.push('fallback');
  if (signatures.length > 1 && entry.signature >= 0) facts.push(signatures[entry.signature]);
  facts.unshift(`id ${entry.id}`);
  box.append(el('p', { class: 'note facts' }, facts.join(' · ')));
  return box;
}
