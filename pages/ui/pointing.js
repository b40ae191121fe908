// In front of both components, the query's sentences and the result list.
// A sentence and its matches light up together, whichever of them is pointed at or focused.
const connections = new WeakMap();

// Returns what ends it; a root that is drawn again is connected once.
function connect(root) {
  connections.get(root)?.abort();
  const connection = new AbortController();
  connections.set(root, connection);
  const show = (sentence) => document.dispatchEvent(new CustomEvent("triptych-pointed", { detail: sentence }));
  const listen = (on, event, act) => on.addEventListener(event, act, { signal: connection.signal });
  const tell = (event) => show(event.target.closest("[data-sentence]")?.dataset.sentence ?? "");
  listen(root, "pointerover", tell);
  listen(root, "focusin", tell);
  listen(root, "pointerleave", () => show(""));
  listen(document, "triptych-pointed", ({ detail }) => {
    for (const line of root.querySelectorAll("[data-sentence]")) {
      line.classList.toggle("pointed", line.dataset.sentence === detail);
    }
  });
  return () => connection.abort();
}
