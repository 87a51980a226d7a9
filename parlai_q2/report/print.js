// On paper no page can be turned: while the page is printed it has the rows of all pages,
// and nothing in it is folded.
const PRINTED = 1000; // rows at most; where they are open, that is some hundred sheets

// Print a table.
//   shown  what is on the screen: {found, from, to}, records and the places of some
//   rowOf  a record's row, which has open(wanted), and the row below it
//   tell   says which are shown: (from, to)
function printsAll({ shown, rowOf, tell }) {
  let undo = [];

  function putBack() {
    undo.forEach((act) => act());
    undo = [];
  }

  window.addEventListener('beforeprint', () => {
    putBack();
    const { found, from, to } = shown();
    // What is too much is printed in parts, each from the rows on the screen on.
    const first = found.length > PRINTED ? from : 0;
    const last = Math.min(first + PRINTED, found.length);
    const drawn = [...document.querySelectorAll('tr.response')];
    const open = drawn.length > 0 && drawn.every((row) => !row.nextElementSibling.hidden);
    const before = found.slice(first, from).flatMap(rowOf);
    const after = found.slice(to, last).flatMap(rowOf);
    // Where all rows on the screen are open, all are.
    for (const row of [...before, ...after]) if (open && row.open) row.open(true);
    byId('rows').prepend(...before);
    byId('rows').append(...after);
    tell(first, last);
    const left = found.length - (last - first);
    if (left) {
      byId('status').append(`; the other ${left.toLocaleString('en')} are not printed`);
    }
    const folded = [...document.querySelectorAll('details:not([open])')];
    folded.forEach((d) => { d.open = true; });
    undo = [
      () => folded.forEach((d) => { d.open = false; }),
      () => [...before, ...after].forEach((row) => row.remove()),
      () => tell(from, to),
    ];
  });
  window.addEventListener('afterprint', putBack);
}
