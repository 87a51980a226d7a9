// The view is kept in the page's address, after the #. It can be shared, it survives a
// reload, and the browser's back button undoes changes one at a time.

// Keep controls in the address. Anybody can write an address, so it may only choose among
// what the controls offer; anything else in it is ignored.
//   usual  the default value of each control, by its id; the address leaves defaults out
//   show   redraws for the controls' values, after a change of the address
// Returns keep(letter), to be called when a control has changed; letter is true for typing
// in the search.
function addressed(usual, show) {
  const ids = Object.keys(usual);
  let typing = false;

  function restore() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const id of ids) {
      const control = byId(id);
      control.value = given.get(id) ?? usual[id];
      // The list has no such option.
      if (control.selectedIndex === -1) control.value = usual[id];
    }
  }

  function keep(letter = false) {
    const chosen = ids.map((id) => [id, byId(id).value]).filter(([id, v]) => v !== usual[id]);
    const told = new URLSearchParams(chosen).toString();
    const address = location.href.split('#')[0] + (told && `#${told}`);
    // Typing a search is a single step in the history.
    const way = letter && typing ? 'replaceState' : 'pushState';
    if (address !== location.href) history[way](null, '', address);
    typing = letter;
  }

  window.addEventListener('hashchange', () => {
    typing = false;
    restore();
    show();
  });
  restore();
  return keep;
}
