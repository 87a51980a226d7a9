// Paper has no paging, so a printed page has the rows of all pages of the table, and
// nothing is folded.
const PRINTED = 1000; // the most rows printed; if open, they take some hundred sheets

// Prepare a table for printing.
//   shown  shown() gives {found, from, to}: the records found, and which are on the screen
//   rowOf  rowOf(record) gives its row, which has open(wanted), and the row below it
//   tell   tell(from, to) states which records are shown
function printsAll({ shown, rowOf, tell }) {
  let undo = [];

  function putBack() {
    undo.forEach((act) => act());
    undo = [];
  }

  window.addEventListener('beforeprint', () => {
    putBack();
    const { found, from, to } = shown();
    // A table that is too long prints from the rows on the screen on, so that the user can
    // print it in parts.
    const first = found.length > PRINTED ? from : 0;
    const last = Math.min(first + PRINTED, found.length);
    const drawn = [...document.querySelectorAll('tr.response')];
    const open = drawn.length > 0 && drawn.every((row) => !row.nextElementSibling.hidden);
    const before = found.slice(first, from).flatMap(rowOf);
    const after = found.slice(to, last).flatMap(rowOf);
    // If all rows on the screen are open, all printed rows are.
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
