// Draws a conversation: messages, replies with their marks, and why each was chosen.
let model = '';
let conversation = 0; // its number, which changes when a new conversation begins
let turns = 0; // how many turns of the conversation this page shows
let knowledge = null; // the model's knowledge, as last reported; null if it takes none
let explains = true; // whether evidence can be asked for
let busy = false;

const LONG = 5000; // characters of knowledge
const GONE = 'The chat cannot be reached. Is it still running?';

// The token of the address that the command printed. It is kept for this tab alone, and
// taken off the address, which might be shown to others.
function takeToken() {
  if (location.hash.length < 2) return;
  sessionStorage.setItem('token', location.hash.slice(1));
  history.replaceState(null, '', location.pathname + location.search);
}

async function ask(path, message) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem('token') || ''}` };
  const post = message && {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(message),
  };
  const answer = await fetch(path, post || { headers })
    .catch(() => { throw new Error(GONE); });
  // A proxy in front may answer without JSON.
  const found = await answer.json().catch(() => ({
    error: answer.ok ? GONE : `The server answered ${answer.status}.` }));
  if (found.error) throw Object.assign(new Error(found.error), { status: answer.status });
  return found;
}

// --- one turn

// Evidence below a reply, filled when the user first opens it or clicks a mark. Escape
// closes it, and leaves the focus at its title.
function folded(title, fill) {
  const head = el('summary', {}, title);
  const box = el('details', {}, head);
  box.fill = () => {
    if (box.children.length === 1) box.append(el('div', { class: 'detail' }, ...fill()));
  };
  box.addEventListener('toggle', () => box.open && box.fill());
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !box.open) return;
    box.open = false;
    head.focus();
  });
  return box;
}

function whyOf(turn, chosen, pick) {
  return folded('Evidence', () => [
    section('Knowledge',
      scrolling('Knowledge', marked(turn.knowledge, chosen.claims, pick))),
    section('Evidence', evidence(chosen), basisLine(chosen)),
    el('p', { class: 'note facts' }, turn.signature),
  ]);
}

function verdictOf(turn, chosen) {
  const line = el('p', { class: 'verdict' });
  if (chosen.score !== null) {
    line.append(el('span', {}, 'Score ', scoreOf(chosen.score)), labelOf(chosen.label));
    const badge = gainBadge(turn.candidates, !turn.as_chosen);
    if (badge) line.append(badge);
  }
  if (chosen.note) line.append(el('span', {}, chosen.note));
  return line;
}

function replyOf(turn) {
  const reply = el('div', { class: 'reply' }, el('h2', { dir: 'auto' }, model));
  const chosen = turn.candidates.find((c) => c.chosen);
  if (!chosen) {
    reply.append(marked(turn.text ? [[turn.text]] : [], []));
    return reply;
  }
  let why = null;
  const pick = (places) => {
    why.open = true;
    why.fill();
    pickLines(why, places);
  };
  // Where nothing was found that answers, there is no reply in the place of which it is.
  const found = chosen.response.length > 0;
  if (turn.as_chosen) {
    reply.append(marked(chosen.response, chosen.claims, pick));
  } else {
    reply.append(marked([[turn.text]], []), found ? el('p', { class: 'note' },
      'Said instead of: ', marked(chosen.response, chosen.claims, pick)) : '');
  }
  reply.append(verdictOf(turn, chosen));
  if (turn.sources.length) {
    reply.append(el('p', { class: 'note sources', dir: 'auto' },
      `From: ${turn.sources.join('; ')}`));
  }
  if (chosen.score !== null) {
    why = whyOf(turn, chosen, pick);
    reply.append(why);
  }
  const { length } = turn.candidates;
  if (!found && length === 1) return reply;
  reply.append(folded(length === 1 ? 'The only candidate' : `All ${length} candidates`,
    () => [beforeAndAfter(turn.candidates, !turn.as_chosen),
      candidateTable(turn.candidates, !turn.as_chosen)]));
  return reply;
}

function turnOf(said, reply, kind) {
  return el('article', { class: `turn ${kind}` },
    el('div', { class: 'said' }, el('h2', {}, 'You'), marked([[said]], [])), reply);
}

function show(turn, number) {
  // The answer to a command is laid out in columns.
  const told = knowledge !== null && !turn.candidates.length;
  const node = turnOf(turn.said, replyOf(turn), told ? 'told' : '');
  byId('turns').append(node);
  if (wantsEvidence(turn)) explain(node, number);
}

// Whether a reply was scored, but comes without the reasons.
function wantsEvidence(turn) {
  const chosen = turn.candidates.find((c) => c.chosen);
  return explains && chosen && chosen.score !== null && !asked(chosen.claims).length && !chosen.explained;
}

// Find the evidence of a turn that is shown already, and show the turn with it.
async function explain(node, number) {
  const note = el('p', { class: 'note looking' }, 'Looking for evidence …');
  node.querySelector('.reply').append(note);
  try {
    const { turn } = await ask('/evidence', { number, conversation });
    const opened = [...node.querySelectorAll('details')].map((box) => box.open);
    const focused = [...node.querySelectorAll('summary')].indexOf(document.activeElement);
    const reply = replyOf(turn);
    node.querySelector('.reply').replaceWith(reply);
    reply.querySelectorAll('details').forEach((box, i) => { box.open = opened[i]; });
    reply.querySelectorAll('summary')[focused]?.focus();
  } catch (problem) {
    note.textContent = `No evidence: ${problem.message}`;
  }
}

// --- the conversation

function draw(state, sent = null) {
  model = state.model;
  conversation = state.conversation;
  explains = state.explains;
  turns = state.turns.length;
  takeKnowledge(state.knowledge, sent);
  byId('grounds').hidden = state.knowledge === null;
  byId('turns').replaceChildren();
  state.turns.forEach((turn, i) => show(turn, i + 1));
}

// Show the model's knowledge in its field, unless the user edited it while waiting.
function takeKnowledge(heard, sent = null) {
  const field = byId('knowledge');
  if (heard !== null && (sent === null || field.value === sent)
    && heard !== field.value.trim()) field.value = heard;
  knowledge = heard;
  tellLength();
}

function tellLength() {
  const { length } = byId('knowledge').value.trim();
  byId('knowledge-long').hidden = length <= LONG;
  byId('knowledge-length').textContent = length.toLocaleString('en');
}

// Scroll to the reply, which may be below a long message.
function showLast() {
  byId('turns').lastChild?.querySelector('.reply').scrollIntoView({ block: 'nearest' });
}

// Show that a reply is awaited, for how long, and to which message if this page knows.
// Return a function that ends this.
function waiting(said = '') {
  const clock = el('span', { 'aria-hidden': 'true' });
  const began = Date.now();
  const ticks = setInterval(() => {
    clock.textContent = ` ${Math.round((Date.now() - began) / 1000)} s`;
  }, 1000);
  const reply = el('div', { class: 'reply' }, 'Waiting …', clock);
  const node = said ? turnOf(said, reply, 'waiting')
    : el('article', { class: 'turn waiting' }, reply);
  byId('turns').append(node);
  reply.scrollIntoView({ block: 'nearest' });
  return () => { clearInterval(ticks); node.remove(); };
}

async function exclusively(act) {
  if (busy) return;
  busy = true;
  byId('send').disabled = byId('reset').disabled = true;
  byId('problem').hidden = true;
  try {
    await act();
  } catch (problem) {
    byId('problem').textContent = problem.message;
    byId('problem').hidden = false;
    byId('problem').scrollIntoView({ block: 'nearest' });
  } finally {
    busy = false;
    byId('send').disabled = byId('reset').disabled = false;
  }
}

async function say() {
  const field = byId('message');
  const text = field.value.trim();
  if (!text) return;
  field.value = '';
  field.focus();
  await tell(text);
}

async function tell(text) {
  const field = byId('message');
  const done = waiting(text);
  const sent = byId('knowledge').value;
  // If this page has not changed the knowledge, another page may have.
  const changed = knowledge !== null && sent.trim() !== knowledge;
  try {
    const message = changed ? { text, knowledge: sent } : { text };
    const found = await ask('/interact', { ...message, conversation });
    done();
    await takeTurn(found, sent);
  } catch (problem) {
    done();
    try {
      // Another page began a new conversation.
      if (problem.status === 410) draw(await ask('/conversation'), sent);
    } finally {
      // Keep what was typed.
      if (!field.value) field.value = text;
      else unanswered(text);
    }
    throw problem;
  }
}

// Show a new turn, after any turns that other pages of this chat have added.
async function takeTurn(found, sent) {
  takeKnowledge(found.knowledge, sent);
  if (found.conversation === conversation && found.number === turns + 1) {
    turns += 1;
    show(found.turn, turns);
  } else {
    const state = await ask('/conversation');
    if (state.conversation === conversation && state.turns.length >= turns) {
      state.turns.slice(turns).forEach((turn, i) => show(turn, turns + i + 1));
      turns = state.turns.length;
    } else {
      draw(state, sent);
    }
  }
  showLast();
}

// A message that failed while the next one was being typed.
function unanswered(text) {
  const again = el('button', { type: 'button' }, 'Try again');
  const node = turnOf(text,
    el('div', { class: 'reply' }, el('p', { class: 'note' }, 'Not answered. '), again),
    'unanswered');
  again.addEventListener('click', () => {
    if (busy) return;
    node.remove();
    exclusively(() => tell(text));
  });
  byId('turns').append(node);
}

// Load the conversation so far, once the reply in progress is there: to a message from
// another page, or from this one before it was reloaded.
async function open() {
  const done = waiting();
  try {
    draw(await ask('/conversation'));
    showLast();
  } finally {
    done();
  }
}

async function reset() {
  const kept = byId('knowledge').value;
  draw(await ask('/reset', {}));
  // The reset cleared the model's knowledge; the next message sends it again.
  byId('knowledge').value = kept;
  tellLength();
  byId('message').focus();
}

byId('say').addEventListener('submit', (event) => {
  event.preventDefault();
  exclusively(say);
});
byId('message').addEventListener('keydown', (event) => {
  // While composing a character, Enter ends the composition instead of sending.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  exclusively(say);
});
byId('reset').addEventListener('click', () => exclusively(reset));
byId('knowledge').addEventListener('input', tellLength);
// The address was put into a tab that has the page already.
window.addEventListener('hashchange', () => { takeToken(); exclusively(open); });
takeToken();
exclusively(open);
byId('message').focus();
