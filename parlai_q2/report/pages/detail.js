// The report's records, and the detail that opens below a record's row.
const { signatures, entries } = JSON.parse(document.getElementById('data').textContent);
const CLIP = 480; // UTF-16 units of a response in its row; the detail has all of it

function detailOf(entry, pick) {
  const box = el('div', { class: 'detail' });
  if (plain(entry.response).length > CLIP) {
    const whole = marked(entry.response, entry.claims, pick);
    box.append(section('Response', scrolling('Response', whole)));
  }
  box.append(section('Knowledge',
    scrolling('Knowledge', marked(entry.knowledge, entry.claims, pick))));
  box.append(section('Evidence', evidence(entry), basisLine(entry)));
  if (entry.rerank.length) {
    box.append(section('Reranking', beforeAndAfter(entry.rerank, entry.abstained), el('details', {},
      el('summary', {}, `All ${entry.rerank.length} candidates`),
      candidateTable(entry.rerank, entry.abstained))));
  }
  if (entry.history.length) {
    box.append(section('Turns before', scrolling('Turns before', el('ol', {},
      ...entry.history.map((turn) => el('li', { class: 'text', dir: 'auto' }, turn))))));
  }
  // Narrow screens hide the columns of these.
  const facts = [`id ${entry.id}`];
  if (entry.class) facts.push(`annotation ${words(entry.class)}`);
  if (entry.fallback && entry.claims.length) facts.push('fallback');
  if (entry.parts.unread) facts.push(`${fixed(100 * entry.parts.unread, 0)} % of a text not read`);
  if (signatures.length > 1 && entry.signature >= 0) facts.push(signatures[entry.signature]);
  box.append(el('p', { class: 'note facts' }, facts.join(' · ')));
  return box;
}
