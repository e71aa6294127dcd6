"use strict";

// Airflow shows the page in a frame: a link to Airflow's own pages is followed by the window around
// it. A sandboxed frame may not move that window, but a link inside that window may.
function inFrame() {
  return window.parent !== window;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-airflow]");
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey);
  if (!link || !plain || !inFrame()) return;
  const outer = window.parent.document.createElement("a");
  outer.href = link.href;
  event.preventDefault();
  window.parent.document.body.append(outer);
  outer.click();
  outer.remove();
});

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    // Without HTTPS there is no clipboard: what is selected can still be copied.
    window.getSelection().selectAllChildren(source);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}

function loadAgain() {
  // Not while a person writes what to look for.
  if (document.activeElement?.closest("form")) window.setTimeout(loadAgain, 1500);
  else window.location.reload();
}

// Only while something is read without which nothing is known of the present; pictures have time.
if (document.body.hasAttribute("data-again")) window.setTimeout(loadAgain, 1500);
else if (document.body.hasAttribute("data-later")) window.setTimeout(loadAgain, 6000);
