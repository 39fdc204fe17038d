// A book opened as files: its search finds pages, but a browser does not let it read them for excerpts. It says so,
// and does not ask for them.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  if (!results || location.protocol !== "file:") return;
  const words = document.createElement("p");
  words.className = "search-note";
  words.textContent = "This book is opened from files: results come without excerpts, as a browser does not let a page "
    + "read its neighbours. With “python -m http.server” in the book's folder they are shown.";
  results.before(words);
});
