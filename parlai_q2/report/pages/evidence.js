// Draws the evidence for a text: its questions, and the candidates it was chosen from.
function section(title, ...content) {
  return el('section', {}, el('h3', {}, title), ...content);
}

function scrolling(name, content) {
  return el('div', { class: 'passage', tabindex: '0', role: 'group', 'aria-label': name },
    content);
}

// A box that a button opens and Escape closes. It is filled when it first opens.
function opening(toggle, box, fill) {
  const open = (wanted) => {
    if (wanted && !box.firstChild) box.append(fill());
    box.hidden = !wanted;
    toggle.setAttribute('aria-expanded', String(wanted));
  };
  toggle.addEventListener('click', () => open(box.hidden));
  for (const place of [box, toggle]) {
    place.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || box.hidden) return;
      event.stopPropagation();
      open(false);
      toggle.focus();
    });
  }
  return open;
}

// Highlight the lines of a mark, in the evidence of a box.
function pickLines(box, places) {
  const lines = [...box.querySelectorAll('table.evidence tbody tr')];
  const own = (line) => box.matches('.of-candidate') || !line.closest('.candidates');
  const picked = lines.filter((line) => own(line)
    && places.includes(Number(line.dataset.claim)));
  lines.forEach((line) => line.classList.toggle('picked', picked.includes(line)));
  picked[0].focus();
}

// What the knowledge says of a claim, and how that compares with it.
function foundFor(claim) {
  if (!claim.evidence.length) return [claim.question ? '(no answer)' : '(nothing)'];
  const parts = claim.evidence.map(([title, text]) => [
    title ? el('strong', {}, `${title}: `) : null, text].filter(Boolean));
  return parts.length === 1 ? parts[0]
    : parts.map((part) => el('p', { dir: 'auto' }, ...part));
}
const comparisonOf = (claim) => (claim.question ? claim.comparison
  : [SHOWN[claim.status] || claim.status, claim.mistake].filter(Boolean).join(': '));

// The evidence for a scored text, which is an entry or one of its candidates.
function evidence(scored) {
  if (!scored.claims.length) {
    return el('p', { class: 'note' }, scored.score === null ? 'Not scored.'
      : scored.fallback
        ? 'No valid question: the response was compared with the knowledge as a whole.'
        : 'This score comes without evidence.');
  }
  return [claimTable(scored.claims, true), claimTable(scored.claims, false)];
}

// The claims that a question was asked about, or those without; null if there is none.
function claimTable(claims, withQuestions) {
  const shown = claims.filter((claim) => Boolean(claim.question) === withQuestions);
  if (!shown.length) return null;
  const names = withQuestions
    ? ['Question', 'In the response', 'In the knowledge', 'Comparison', 'Score']
    : ['In the response', 'In the knowledge', 'Comparison', 'Support'];
  const rows = shown.map((claim) => {
    const cells = [...(withQuestions ? [claim.question] : []), claim.text, foundFor(claim),
      comparisonOf(claim), fixed(claim.support)];
    return el('tr', { class: claim.status, tabindex: '-1', 'data-claim': claims.indexOf(claim) },
      ...cells.map((text, i) => el('td', { 'data-name': names[i],
        dir: i < names.length - 2 ? 'auto' : null }, text)));
  });
  const head = el('tr', {}, ...names.map((name) => el('th', { scope: 'col' }, name)));
  return el('table', { class: 'evidence' }, el('thead', {}, head), el('tbody', {}, ...rows));
}

// How a score is made up, in a sentence; empty if its parts are unknown.
function basisOf({ score, claims, parts }) {
  const told = Object.entries(parts).map(([name, n]) => `${words(name)} ${fixed(n, 3)}`)
    .join(' · ');
  if (!told) return '';
  const answered = asked(claims);
  const mean = answered.reduce((sum, claim) => sum + claim.support, 0) / answered.length;
  // Both are rounded to four digits.
  return Math.abs(mean - score) < 2e-4
    ? `The score is the mean over the questions. Further figures: ${told}`
    : `The score is made of ${told}`;
}

const basisLine = (scored) => el('p', { class: 'note facts' }, basisOf(scored));

function choiceOf(title, candidate) {
  const score = candidate.score === null ? 'not scored' : fixed(candidate.score);
  return el('div', { class: 'choice' },
    el('h4', {}, `${title} `, el('b', {}, score), ' ', labelOf(candidate.label || 'unknown')),
    el('p', {}, marked(candidate.response, candidate.claims, null)),
    candidate.note ? el('p', { class: 'note' }, candidate.note) : null,
    basisLine(candidate));
}

function beforeAndAfter(candidates, abstained) {
  const first = candidates.find((c) => c.first);
  const chosen = candidates.find((c) => c.chosen);
  if (abstained) return choiceOf('Withheld: best candidate', chosen);
  if (first && first === chosen) {
    return el('p', {}, "The generator's first candidate was kept.");
  }
  return el('div', { class: 'pair' },
    first ? choiceOf('Before: first candidate', first) : null,
    chosen ? choiceOf('After: chosen', chosen) : null);
}

// All candidates, each with its evidence in a row below, which opens.
let rowsMade = 0;
function candidateTable(candidates, abstained) {
  const names = ['', 'Score', 'Label', 'Generator', 'From', 'Candidate'];
  const rows = candidates.flatMap((c, i) => {
    const id = `candidate-${rowsMade++}`;
    const role = [c.first ? 'first' : '', c.chosen ? (abstained ? 'withheld' : 'chosen') : ''].filter(Boolean);
    const toggle = el('button', { type: 'button', class: 'toggle', 'aria-expanded': 'false',
      'aria-controls': id, 'aria-label': `Evidence for candidate ${i + 1}` });
    const below = el('tr', { class: 'of-candidate', id, hidden: true });
    const open = opening(toggle, below, () => el('td', { colspan: names.length },
      evidence(c), basisLine(c)));
    const pick = (places) => { open(true); pickLines(below, places); };
    const cells = [[i + 1, ...role].join(' '), fixed(c.score), words(c.label),
      fixed(c.generator), c.strategies.join(', ')];
    const row = el('tr', { class: c.chosen ? 'chosen' : null },
      ...cells.map((text, n) => el('td', { 'data-name': names[n] }, n ? null : toggle, text)),
      el('td', { 'data-name': names[5] }, marked(c.response, c.claims, pick),
        c.note ? el('p', { class: 'note' }, c.note) : null));
    return [row, below];
  });
  const head = el('tr', {}, ...names.map((name) => el('th', { scope: 'col' },
    name || el('span', { class: 'hidden' }, 'Place'))));
  return el('table', { class: 'candidates' }, el('thead', {}, head),
    el('tbody', {}, ...rows));
}
