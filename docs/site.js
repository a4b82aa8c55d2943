// What scrolls sideways can be reached with the keyboard: wide tables and long lines of code.
function reach() {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code, .md-typeset pre")) {
    if (box.scrollWidth > box.clientWidth && box.tabIndex < 0) box.tabIndex = 0;
  }
}
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("load", reach);
addEventListener("resize", reach);
