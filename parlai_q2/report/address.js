// What is looked at stands in the page's address, behind the #: it can be sent, comes back
// after a reload, and the browser's back button undoes it a step at a time.

// Keep controls in the address. An address is anybody's text: it chooses among what the
// controls offer, and anything else in it is passed over.
//   usual  the value of each control, by its id, that the address leaves out
//   show   shows what the controls say, when another address was gone to
// Gives keep(letter), to be called when a control has changed; letter says that it was one
// letter more of a search.
function addressed(usual, show) {
  const ids = Object.keys(usual);
  let typing = false;

  function restore() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const id of ids) {
      const control = byId(id);
      control.value = given.get(id) ?? usual[id];
      // A list has no choice by that name.
      if (control.selectedIndex === -1) control.value = usual[id];
    }
  }

  function keep(letter = false) {
    const chosen = ids.map((id) => [id, byId(id).value]).filter(([id, v]) => v !== usual[id]);
    const told = new URLSearchParams(chosen).toString();
    const address = location.href.split('#')[0] + (told && `#${told}`);
    // All letters of a search are one step back.
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
