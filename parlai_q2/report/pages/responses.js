// The table of one run's responses.
const classed = entries.some((e) => e.class);
const reranked = entries.some((e) => e.rerank.length);
const questions = (e) => asked(e.claims).length;
// To add a column, add it here.
const columns = [
  { name: 'Score', key: (e) => e.score, kind: 'number', cell: (e) => scoreOf(e.score) },
  { name: 'Label', key: (e) => e.label, cell: (e) => labelOf(e.label) },
  { name: 'Response', kind: 'said', cell: (e, pick) => [
    marked(e.response, e.claims, pick, CLIP), gainBadge(e.rerank, e.abstained)] },
  ...(entries.some(questions) ? [{ name: 'Questions', key: questions, kind: 'number minor',
    cell: (e) => String(questions(e)) }] : []),
  ...(classed ? [{ name: 'Annotation', key: (e) => e.class, kind: 'minor',
    cell: (e) => words(e.class) }] : []),
  { name: 'Record', key: (e) => e[PLACE], kind: 'minor id', cell: (e) => e.id },
];
const statuses = (e) => marking(e.claims).map((claim) => claim.status);
const has = {
  contradicted: (e) => statuses(e).includes('contradicted'),
  unsupported: (e) => statuses(e).includes('unsupported'),
  supported: (e) => e.claims.length > 0 && statuses(e).every((s) => s === 'supported'),
  none: (e) => !e.claims.length,
  fallback: (e) => e.fallback,
  changed: (e) => !e.abstained && e.rerank.some((c) => c.chosen && !c.first),
  abstained: (e) => e.abstained,
};
const binOf = (score) => Math.min(Math.floor(score * 10), 9);

byId('class-control').hidden = !classed;
showTable({
  noun: 'response',
  records: entries,
  columns,
  // Records without a gain sort as the lowest.
  orders: reranked ? [{ name: 'Gain', key: (e) => gainOf(e.rerank, e.abstained) ?? -2 }] : [],
  start: { order: 'Record', down: false },
  filters: [
    { id: 'label', options: choicesOf(entries.map((e) => e.label)),
      fits: (e, value) => e.label === value },
    { id: 'class', options: choicesOf(entries.map((e) => e.class)),
      fits: (e, value) => e.class === value },
    { id: 'evidence',
      options: [['', 'any'], ['contradicted', 'a contradiction'],
        ['unsupported', 'something not in the knowledge'], ['supported', 'all supported'],
        ['none', 'no evidence'], ['fallback', 'fallback used'],
        ...(reranked ? [['changed', 'reranking changed it']] : []),
        ...(entries.some((e) => e.abstained) ? [['abstained', 'abstained']] : [])],
      fits: (e, value) => has[value](e) },
    { id: 'bin',
      options: [['', 'all'], ...Array.from({ length: 10 }, (_, i) =>
        [String(i), `${(i / 10).toFixed(1)} to ${((i + 1) / 10).toFixed(1)}`])],
      fits: (e, value) => binOf(e.score) === Number(value) },
  ],
  haystack: (e) => [e.id, plain(e.response), plain(e.knowledge), ...e.history].join('\n'),
  detail: detailOf,
  pickIn: pickLines,
});
