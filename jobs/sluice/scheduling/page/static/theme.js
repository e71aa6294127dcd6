"use strict";

// Airflow keeps the choice of its own colour mode here, for all pages of its address. It is read
// before the first paint; where it is `system`, or not made yet, the style follows the system.
const KEY = "theme";

function follow() {
  let chosen = null;
  try {
    chosen = window.localStorage.getItem(KEY);
  } catch {
    // A browser may refuse to tell; then the system's setting counts.
  }
  if (chosen === "light" || chosen === "dark") {
    document.documentElement.dataset.theme = chosen;
  } else {
    delete document.documentElement.dataset.theme;
  }
}

follow();
// Another document of the same address has changed it: Airflow, around this frame.
window.addEventListener("storage", (event) => {
  if (event.key === KEY || event.key === null) follow();
});
