// Draws the result list. Every text comes in as text and is set as text: nothing of a paper becomes markup.

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function segments(parts) {
  return parts.map(([text, kind]) => (kind ? element("span", kind === 1 ? "term" : "akin", text) : text));
}

function meter(level) {
  const dots = element("span", "meter");
  dots.setAttribute("aria-hidden", "true");
  for (let place = 1; place <= 4; place += 1) dots.append(element("i", place <= level ? "on" : ""));
  return dots;
}

function matchLine(pair) {
  const yours = element("span", pair.facet, ...segments(pair.yours));
  const near = element("span", "near", pair.likeness.toFixed(2));
  const theirs = element("span", pair.theirFacet, ...segments(pair.theirs));
  near.title = "How alike the two sentences are, from 0 to 1";
  const line = element("div", `match ${pair.facet}`, yours, near, theirs);
  line.dataset.sentence = pair.sentence;
  return line;
}

function side(who, word, facet, parts) {
  const badge = element("span", `facet ${facet}`, word);
  return element("div", facet, element("span", "who", `${who} `, badge), ...segments(parts));
}

function pairLine(pair) {
  const bar = element("span", `bar ${pair.facet}`, element("span", ""));
  bar.firstChild.style.width = `${Math.round(100 * Math.max(0, Math.min(1, pair.likeness)))}%`;
  bar.setAttribute("aria-hidden", "true");
  const strength = element("div", "quiet", `${pair.likeness.toFixed(2)} alike`, bar);
  const line = element(
    "div", `pair ${pair.facet}`, strength,
    side(pair.yoursName, pair.word, pair.facet, pair.yoursWhole),
    side(`Theirs, ${pair.position}`, pair.theirWord, pair.theirFacet, pair.theirsWhole),
  );
  line.dataset.sentence = pair.sentence;
  return line;
}

function abstractOf(result) {
  if (!result.abstract.length) return element("p", "quiet", "This record has no abstract; its title was matched.");
  const pieces = result.abstract.map(([text, facet]) => (facet ? element("mark", facet, text) : text));
  return element("p", "abstract", ...pieces);
}

function details(result, number, data, tell) {
  const search = element("button", "", "Search with this paper");
  search.onclick = () => tell({ do: "search", id: result.id });
  const open = element("a", "", "Open its page");
  open.href = `paper?id=${encodeURIComponent(result.id)}`;
  open.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    tell({ do: "open", id: result.id });
  };
  for (const control of [search, open]) control.setAttribute("aria-label", `${control.textContent}: ${result.title}`);
  const actions = element("div", "actions", search, open);
  if (result.address) {
    const read = element("a", "", "Read online");
    Object.assign(read, { href: result.address, target: "_blank", rel: "noopener noreferrer" });
    read.setAttribute("aria-label", `Read online: ${result.title}`);
    actions.append(read);
  }
  if (data.lists.length > 1) {
    const choose = element("select", "", ...data.lists.map((name) => new Option(name, name)));
    choose.setAttribute("aria-label", `List for: ${result.title}`);
    choose.value = data.list;
    choose.onchange = () => tell({ do: "list", name: choose.value });
    actions.append(element("span", "quiet", "Keep on ", choose));
  }
  const box = element("div", "details", abstractOf(result), ...result.pairs.map(pairLine));
  if (result.also) box.append(element("p", "quiet", result.also));
  box.append(element("p", "quiet", result.parts), actions);
  box.id = `details-${number}`;
  return box;
}

function item(result, number, data, state, tell) {
  const open = state.open.has(result.id);
  const title = element("button", "title", `${number}. ${result.title}`);
  title.setAttribute("aria-expanded", String(open));
  title.setAttribute("aria-controls", `details-${number}`);
  title.dataset.key = `title-${result.id}`;
  const keep = element("button", "keep", result.kept ? "★ Kept" : "☆ Keep");
  keep.setAttribute("aria-pressed", String(result.kept));
  keep.setAttribute("aria-label", `${result.kept ? "Kept" : "Keep"}: ${result.title}`);
  keep.dataset.key = `keep-${result.id}`;
  keep.onclick = () => tell({ do: "keep", id: result.id, name: data.list });
  const strength = element("span", "strength", meter(result.level), element("b", "", result.word), ` ${result.score.toFixed(2)}`);
  const row = element(
    "li", "item",
    element("div", "head", element("h3", "", title), strength, keep),
    element("p", "quiet byline", result.new ? element("b", "new", "New") : null, result.byline),
    result.near.length ? element("p", "near-by", ...result.near.map(([facet, text]) => element("span", `facet ${facet}`, text))) : null,
    ...result.notes.map((note) => element("p", "quiet note", note)),
    result.held ? element("p", "quiet held", result.held) : null,
    ...result.pairs.slice(0, 1).map(matchLine),
  );
  const toggle = () => {
    if (state.open.delete(result.id)) {
      row.querySelector(".details").remove();
    } else {
      state.open.add(result.id);
      row.append(details(result, number, data, tell));
    }
    title.setAttribute("aria-expanded", String(state.open.has(result.id)));
  };
  title.onclick = toggle;
  if (open) row.append(details(result, number, data, tell));
  return row;
}

// Back and reload return to the place in the list: kept in this tab by the search's id.
function keepPlace(search, state) {
  const main = document.querySelector("[data-testid=stMain]");
  if (!main || !search) return () => {};
  const name = `triptych-place-${search}`;
  if (state.search !== search) {
    state.search = search;
    const place = Number(sessionStorage.getItem(name) ?? 0);
    if (place) requestAnimationFrame(() => main.scrollTo(0, place));
  }
  const note = () => sessionStorage.setItem(name, String(Math.round(main.scrollTop)));
  main.addEventListener("scroll", note, { passive: true });
  return () => main.removeEventListener("scroll", note);
}

const states = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const state = states.get(parentElement) ?? { open: new Set(), search: "" };
  states.set(parentElement, state);
  const tell = (event) => setTriggerValue("asked", { ...event, time: Date.now() });
  const focused = parentElement.activeElement?.dataset?.key;
  const list = element("ol", "", ...data.results.map((one, place) => item(one, place + 1, data, state, tell)));
  list.setAttribute("aria-label", data.label);
  const box = element("div", "results", list);
  if (data.more) {
    const more = element("button", "more", data.more);
    more.onclick = () => tell({ do: "more" });
    box.append(more);
  }
  parentElement.querySelector(".results")?.remove();
  parentElement.append(box);
  document.dispatchEvent(new Event("ZoteroItemUpdated", { bubbles: true, cancelable: true }));
  if (focused) parentElement.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  const stops = [connect(box), keepPlace(data.search, state)];
  return () => stops.forEach((stop) => stop());
}
