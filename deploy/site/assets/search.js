// The search: each word must be somewhere in a section. A section is better the nearer to its title the words are.
"use strict";

const input = document.getElementById("search");
const list = document.getElementById("found");
const root = document.body.dataset.root;
const shownMax = 20;

// score returns how well a section has the words; 0 if one is missing.
function score(section, words) {
  const title = section.t.toLowerCase(), head = section.h.toLowerCase(), text = section.x.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const points = (title.includes(word) ? 4 : 0) + (head.includes(word) ? 8 : 0) + (text.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

// excerpt returns the text around the first word that is in it.
function excerpt(text, words) {
  const small = text.toLowerCase();
  const at = Math.max(0, ...words.map((word) => small.indexOf(word)));
  const from = Math.max(0, at - 60);
  return (from > 0 ? "… " : "") + text.slice(from, from + 180) + (from + 180 < text.length ? " …" : "");
}

// line returns an element of the list.
function line(section, words) {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  link.href = root + section.p;
  const where = link.appendChild(document.createElement("span"));
  where.className = "where";
  where.textContent = section.h === section.t ? section.t : section.t + " › " + section.h;
  const text = link.appendChild(document.createElement("span"));
  text.className = "text";
  text.textContent = excerpt(section.x, words);
  return item;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean).slice(0, 10);
  list.hidden = words.length === 0;
  const found = searchIndex
    .map((section) => ({ section, points: words.length ? score(section, words) : 0 }))
    .filter((hit) => hit.points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, shownMax);
  list.replaceChildren(...found.map((hit) => line(hit.section, words)));
  if (found.length === 0 && words.length > 0) {
    const item = list.appendChild(document.createElement("li"));
    item.className = "none";
    item.textContent = "Nothing has all of these words.";
  }
}

input.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") list.hidden = true;
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  }
});
