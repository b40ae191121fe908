// Sends the title and abstract of the page one is reading to one's own Triptych; what is selected wins.
(() => {
  const triptych = "http://localhost:8501/";
  const most = 4000;
  const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;
  const tidy = (text) => text.replace(/\s+/g, " ").trim().replace(/^(abstract|summary)\s*[:.]?\s*/i, "");
  const first = (found) => found.map(tidy).find((text) => text) || "";
  const meta = (...names) =>
    first(
      names.flatMap((name) =>
        [...document.querySelectorAll("meta")]
          .filter((tag) => (tag.name || tag.getAttribute("property") || "").toLowerCase() === name)
          .map((tag) => plain(tag.content || ""))
      )
    );
  const shown = (...places) =>
    first(places.flatMap((place) => [...document.querySelectorAll(place)].map((part) => part.textContent)));
  const title = meta("citation_title", "dc.title", "og:title") || tidy(document.title);
  const abstract =
    tidy(String(getSelection())) ||
    shown("blockquote.abstract", "#eng-abstract", ".abstract-content", ".acl-abstract span", "#Abs1-content") ||
    meta("citation_abstract", "dc.description") ||
    shown("section.abstract", "#abstract", ".abstractSection", "div.abstract", ".abstract") ||
    meta("og:description", "description");
  open(triptych + "?t=" + encodeURIComponent((title + "\n" + abstract).slice(0, most)));
})();
