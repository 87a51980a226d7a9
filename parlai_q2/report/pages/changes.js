// Draws two runs side by side, with a row for each response, or turn of two systems, that both have.
const { names, words: [FIRST, SECOND], signatures, changes } = JSON.parse(byId('data').textContent);
const CLIP = 480; // UTF-16 units of a response in its row; the detail has all of it
const classed = changes.some((c) => c.class);

// --- the detail below a row

function sideOf(title, side, clipped) {
  const facts = [basisOf(side)].filter(Boolean);
  if (side.fallback) facts.push('fallback');
  if (side.abstained) facts.push('abstained');
  if (signatures.length > 2 && side.signature >= 0) facts.push(signatures[side.signature]);
  return el('div', { class: 'choice' },
    el('h4', { dir: 'auto' }, `${title} `, el('b', {}, fixed(side.score)), ' ',
      labelOf(side.label)),
    el('p', {}, marked(side.response, side.claims, null, clipped ? CLIP : Infinity)),
    facts.length ? el('p', { class: 'note facts' }, facts.join(' · ')) : null);
}

function detailOf(change, pick) {
  const { before, after } = change;
  const box = el('div', { class: 'detail' });
  const long = plain(after.response).length > CLIP;
  // Only the same response is above in full.
  const clipped = long && !change.other;
  if (long) {
    box.append(section('Response',
      scrolling('Response', marked(after.response, after.claims, pick))));
  }
  box.append(section(`${FIRST} and ${SECOND.toLowerCase()}`, el('div', { class: 'pair' },
    sideOf(`${FIRST}: ${names[0]}`, before, clipped),
    sideOf(`${SECOND}: ${names[1]}`, after, clipped))));
  box.append(section(`Evidence, ${FIRST.toLowerCase()}`, evidence(before)));
  // Where the lines of a mark are highlighted.
  box.append(section(`Evidence, ${SECOND.toLowerCase()}`,
    el('div', { class: 'second' }, evidence(after))));
  const marks = (side) => JSON.stringify(side.knowledge);
  if (marks(before) === marks(after)) {
    box.append(section('Knowledge', scrolling('Knowledge',
      marked(after.knowledge, after.claims, pick))));
  } else {
    box.append(section('Knowledge, with the words that answered', el('div', { class: 'pair' },
      knowledgeOf(`${FIRST}: ${names[0]}`, before, null),
      knowledgeOf(`${SECOND}: ${names[1]}`, after, pick))));
  }
  if (change.history.length) {
    box.append(section('Turns before', scrolling('Turns before', el('ol', {},
      ...change.history.map((turn) => el('li', { class: 'text', dir: 'auto' }, turn))))));
  }
  const facts = `id ${change.id}${change.class ? ` · annotation ${words(change.class)}` : ''}`;
  box.append(el('p', { class: 'note facts' }, facts));
  return box;
}

function knowledgeOf(title, side, pick) {
  return el('div', {}, el('h4', { dir: 'auto' }, title),
    scrolling(`Knowledge, ${title}`, marked(side.knowledge, side.claims, pick)));
}

// --- the table

const saidOf = ({ response, claims }, pick) => marked(response, claims, pick, CLIP);
// Two systems' replies to a turn, to be read without opening the row.
const bothSaid = ({ before, after }, pick) => [[FIRST, before, null], [SECOND, after, pick]].map(
  ([word, one, to]) => el('div', { class: 'one-of-two' }, el('span', { class: 'note' }, word),
    saidOf(one, to)));
const way = (difference) => (difference > 0 ? 'higher' : difference < 0 ? 'lower' : 'level');
const side = (name, of) => ({ name, key: (c) => of(c).score, kind: 'number side',
  cell: (c) => [scoreOf(of(c).score), labelOf(of(c).label)] });
// To add a column, add it here.
const columns = [
  { name: 'Change', key: (c) => c.difference, kind: 'number change', cell: (c) => [
    el('span', { class: way(c.difference) }, c.withheld ? 'no reply' : signed(c.difference)),
    c.flip ? el('span', { class: 'badge' }, 'new label') : null] },
  side(FIRST, (c) => c.before),
  side(SECOND, (c) => c.after),
  { name: 'Response', kind: 'said', cell: (c, pick) => (
    c.other ? bothSaid(c, pick) : saidOf(c.after, pick)) },
  ...(classed ? [{ name: 'Annotation', key: (c) => c.class, kind: 'minor',
    cell: (c) => words(c.class) }] : []),
  { name: 'Record', key: (c) => c[PLACE], kind: 'minor id', cell: (c) => c.id },
];

const moves = {
  changed: (c) => c.changed,
  flip: (c) => c.flip,
  higher: (c) => c.difference > 0,
  lower: (c) => c.difference < 0,
  level: (c) => !c.changed && !c.withheld,
  withheld: (c) => c.withheld,
};

byId('class-control').hidden = !classed;
showTable({
  noun: 'response',
  records: changes,
  columns,
  orders: [
    // Changed labels rank above all others; within each group, by the size of the change.
    { name: 'Importance', key: (c) => (c.flip ? 2 : 0) + Math.abs(c.difference) },
  ],
  start: { order: 'Importance', down: true },
  filters: [
    { id: 'moved', options: [...(changes.some((c) => c.changed) ? [['changed', 'changed']] : []),
      ['', 'all'], ['flip', 'new label'],
      ['higher', 'higher'], ['lower', 'lower'], ['level', 'unchanged'],
      ...(changes.some((c) => c.withheld) ? [['withheld', 'no reply']] : [])],
      fits: (c, value) => moves[value](c) },
    { id: 'label', options: choicesOf(changes.map((c) => c.before.label)),
      fits: (c, value) => c.before.label === value },
    { id: 'label-after', options: choicesOf(changes.map((c) => c.after.label)),
      fits: (c, value) => c.after.label === value },
    { id: 'class', options: choicesOf(changes.map((c) => c.class)),
      fits: (c, value) => c.class === value },
  ],
  haystack: (c) => [c.id, plain(c.before.response), plain(c.after.response),
    plain(c.after.knowledge), ...c.history]
    .join('\n'),
  detail: detailOf,
  pickIn: (box, places) => pickLines(box.querySelector('.second'), places),
});
