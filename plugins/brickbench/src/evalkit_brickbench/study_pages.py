"""What raters see: a page with their comparisons, which work without a server, and save a CSV file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 70rem; padding: 0 1rem; }
section { border-top: 1px solid #ccc; padding: 1rem 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
label { display: block; border: 3px solid transparent; cursor: pointer; text-align: center; }
label:has(input:checked) { border-color: #0072b2; }
img { width: 100%; height: auto; }
button { font: inherit; padding: 0.5rem 1.5rem; }
"""
_SCRIPT = """\
function answers() {
  const rows = ["id,choice"];
  for (const section of document.querySelectorAll("section")) {
    const chosen = section.querySelector("input:checked");
    rows.push(section.id + "," + (chosen ? chosen.value : ""));
  }
  return rows.join("\\n") + "\\n";
}
const data = document.body.dataset;
const sections = document.querySelectorAll("section");
function openPairs() {
  return [...sections].filter((section) => !section.querySelector("input:checked")).length;
}
function tell() {
  const left = openPairs();
  document.querySelector("#open").textContent =
    left ? `Pairs without an answer: ${left} of ${sections.length}` : "All pairs have an answer.";
}
function kept() {
  try { return JSON.parse(localStorage.getItem(data.study)) || {}; } catch { return {}; }
}
function keep() {
  const chosen = [...document.querySelectorAll("input:checked")].map((input) => [input.name, input.value]);
  try {
    localStorage.setItem(data.study, JSON.stringify(Object.fromEntries(chosen)));
  } catch { /* the browser keeps nothing: then only the saved file does */ }
}
for (const [name, value] of Object.entries(kept())) {
  const input = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (input) input.checked = true;
}
document.addEventListener("change", () => { keep(); tell(); });
tell();
document.querySelector("button").addEventListener("click", () => {
  const left = openPairs();
  if (left && !confirm(`Pairs without an answer: ${left}. Save all the same?`)) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([answers()], { type: "text/csv" }));
  link.download = data.file;
  link.click();
});
"""


def rater_page(rater: int, rows: Sequence[tuple[str, str, str, str]]) -> str:
    """The page of a rater: rows of id, prompt (may be empty), picture on the left, picture on the right."""
    sections = "\n".join(_section(number, len(rows), *row) for number, row in enumerate(rows, 1))
    file = f"answers-{rater:03}.csv"
    return _page(
        f"Rater {rater}",
        f"<h1>Which model do you prefer?</h1>\n<p>Each pair shows two models of toy bricks, each from four "
        f"sides. Choose one of each pair, then save your answers and send the file {file} back. What you "
        f"chose is kept in this browser if you close the page.</p>\n"
        f'{sections}\n<p id="open"></p>\n<p><button>Save answers</button></p>\n<script>\n{_SCRIPT}</script>',
        f' data-file="{file}" data-study="{_fingerprint(rater, rows)}"',
    )


def _fingerprint(rater: int, rows: Sequence[tuple[str, str, str, str]]) -> str:
    """What a browser keeps a page's answers under: pages of other studies mustn't find them."""
    return hashlib.sha256(repr((rater, list(rows))).encode()).hexdigest()[:16]


def _section(number: int, total: int, name: str, prompt: str, left: str, right: str) -> str:
    asked = f"<p>The task was: {escape(prompt)}</p>\n" if prompt else ""
    sides = "\n".join(
        f'<label><img src="{escape(picture)}" alt="model {choice}" loading="lazy"><br>'
        f'<input type="radio" name="{escape(name)}" value="{choice}"> this one</label>'
        for choice, picture in ((1, left), (2, right))
    )
    return (
        f'<section id="{escape(name)}">\n<h2>{number} of {total}</h2>\n{asked}'
        f'<div class="pair">\n{sides}\n</div>\n</section>'
    )


def index_page(raters: Sequence[int]) -> str:
    """A list of the raters' pages."""
    links = "\n".join(f'<li><a href="rater-{rater:03}.html">Rater {rater}</a></li>' for rater in raters)
    return _page("A study of models", f"<h1>A study of models</h1>\n<ul>\n{links}\n</ul>", "")


def _page(title: str, body: str, attributes: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body{attributes}>\n{body}\n"
        "</body>\n</html>\n"
    )
