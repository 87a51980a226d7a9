'use strict';
// Draws texts with their spans marked. Texts are inserted as text nodes, never as HTML.
const byId = (id) => document.getElementById(id);
const words = (text) => text.replaceAll('_', ' ');
// A zero has no sign.
const fixed = (number, digits = 2) => (number === null ? ''
  : number.toFixed(digits).replace(/^-(?=[0.]*$)/, ''));
const signed = (number) => (Number(fixed(number)) > 0 ? '+' : '') + fixed(number).replace('-', '−');
const plain = (pieces) => pieces.map((piece) => piece[0]).join('');

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(name, '');
    else if (value !== false && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

// --- a text with its spans marked

const SHOWN = {
  supported: 'supported', unsupported: 'not in the knowledge', contradicted: 'contradicted',
  generic: 'states nothing',
};
const asked = (claims) => claims.filter((claim) => claim.question);
// The claims that mark words: those with questions or, where nothing was asked, all.
const marking = (claims) => (asked(claims).length ? asked(claims) : claims);

function marked(pieces, claims, onPick, limit = Infinity) {
  const box = el('span', { class: 'text', dir: 'auto' });
  let left = limit;
  for (let i = 0; i < pieces.length; i++) {
    const [text, status, places] = pieces[i];
    if (left <= 0) break;
    let shown = text;
    if (text.length > left) {
      // Do not cut between the two halves of a surrogate pair.
      const half = /[\ud800-\udbff]/.test(text[left - 1]) ? 1 : 0;
      shown = text.slice(0, left - half);
    }
    left -= text.length;
    if (!status) {
      box.append(shown);
      continue;
    }
    if (status === 'title') {
      box.append(el('strong', {}, shown));
      continue;
    }
    const last = i + 1 === pieces.length || pieces[i + 1][1] !== status || left <= 0;
    // Words that the detector marked come without a question, perhaps with a mistake.
    const said = places.map((p) => claims[p])
      .map((claim) => (claim.question ? `${claim.question} (${claim.comparison})` : claim.mistake))
      .filter(Boolean);
    const mark = el('mark', {
      class: status + (last ? ' end' : ''),
      title: said.length ? `${SHOWN[status]}: ${said.join('; ')}` : SHOWN[status],
    }, shown);
    if (onPick && places.length) makeButton(mark, () => onPick(places));
    box.append(mark);
  }
  const more = plain(pieces).length - limit;
  if (more > 0) {
    box.append(el('span', { class: 'note' }, ` … ${more.toLocaleString('en')} more`));
  }
  if (!pieces.length) box.append(el('span', { class: 'note' }, '(empty)'));
  return box;
}

function makeButton(node, act) {
  node.setAttribute('role', 'button');
  node.setAttribute('tabindex', '0');
  node.addEventListener('click', act);
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    act();
  });
}

function labelOf(label) {
  const known = ['consistent', 'inconsistent', 'not_verifiable', 'generic'].includes(label);
  return el('span', { class: `label ${known ? label : 'other'}` }, words(label));
}

function scoreOf(score) {
  const bar = el('i', {});
  bar.style.width = `${100 * score}%`;
  return el('span', { class: 'score' }, fixed(score), el('span', { class: 'meter' }, bar));
}

// What reranking gained: chosen score minus first score; null where one is missing, where a
// candidate states nothing that could be judged, and where another text was returned.
function gainOf(candidates, abstained) {
  const [first, chosen] = ['first', 'chosen'].map((role) => candidates.find((c) => c[role]));
  const judged = (c) => c && c.score !== null && !['generic', 'not_verifiable'].includes(c.label);
  return !abstained && judged(first) && judged(chosen) ? chosen.score - first.score : null;
}

function gainBadge(candidates, abstained) {
  if (abstained) return el('span', { class: 'badge' }, 'abstained');
  const gain = gainOf(candidates, abstained);
  if (gain === null || Math.abs(gain) <= 1e-9) return null;
  return el('span', { class: 'badge' }, `reranked ${signed(gain)}`);
}
