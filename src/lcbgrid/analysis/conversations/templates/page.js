"use strict";
const filters = [...document.querySelectorAll("[data-filter]")];
const answers = [...document.querySelectorAll(".answer")];
function matches(answer, filter) {
  const have = answer.dataset[filter.dataset.filter];
  const want = filter.value;
  return want === "" || (filter.type === "search" ? have.includes(want.toLowerCase()) : have === want);
}
function apply() {
  let shown = 0;
  for (const answer of answers) {
    answer.hidden = !filters.every(filter => matches(answer, filter));
    shown += answer.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = shown + " of " + answers.length + " answers";
}
function openLinked() {
  const linked = document.getElementById(location.hash.slice(1));
  if (linked instanceof HTMLDetailsElement) { linked.open = true; linked.scrollIntoView(); }
}
document.getElementById("filters").addEventListener("input", apply);
document.getElementById("filters").addEventListener("submit", event => event.preventDefault());
window.addEventListener("hashchange", openLinked);
apply();
openLinked();
