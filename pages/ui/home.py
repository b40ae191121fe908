"""The browser's history: the logo, "Find" while it is shown, and Back to the start lead to the start page.

Streamlit itself stays where it is, and from an address without a search one cannot tell which of them it was.
"""

from __future__ import annotations

import streamlit as st

from pages.ui import state

SCRIPT = """
// Streamlit goes to another page in two steps, the page and its query, in either order. In the browser's
// history they are one: a step that changes only one of them is taken on by the next, where that changes
// only the other. A query alone is half a step just for a moment: a search and a topic change it, too.
const MOMENT = 1000;

function goInOneStep() {
  const push = history.pushState;
  if (push.inOneStep) return;
  let half = {};
  history.pushState = function (state, title, url) {
    const next = new URL(url, location.href);
    const page = next.pathname !== location.pathname;
    const query = next.search !== location.search;
    const other = page === half.query && query === half.page;
    const second = other && half.at === location.href && Date.now() < half.until;
    (second ? history.replaceState : push).call(history, state, title, url);
    const first = !second && page !== query && next.search;
    half = first ? { at: location.href, page, query, until: query ? Date.now() + MOMENT : Infinity } : {};
  };
  history.pushState.inOneStep = true;
  window.addEventListener("popstate", () => { half = {}; });
}

export default function ({ data, setTriggerValue }) {
  goInOneStep();
  const logo = "[data-testid=stHeaderLogo], [data-testid=stSidebarLogo]";
  const tell = (back) => setTriggerValue("home", { time: Date.now(), back });
  const onClick = (event) => {
    const entry = event.target.closest("[data-testid$=NavLink]");
    const again = data.onFind && entry && new URL(entry.href).pathname === location.pathname;
    if (again || event.target.closest(logo)) {
      event.preventDefault();
      event.stopPropagation();
      tell(false);
    }
  };
  const onBack = () => {
    // Other pages have a name in the address; Streamlit itself goes to them.
    const start = location.pathname.endsWith("/") && !new URLSearchParams(location.search).get("s");
    if (data.onFind && start) tell(true);
  };
  document.addEventListener("click", onClick, true);
  window.addEventListener("popstate", onBack);
  return () => {
    document.removeEventListener("click", onClick, true);
    window.removeEventListener("popstate", onBack);
  };
}
"""
_component = st.components.v2.component("home", js=SCRIPT)


def listen(page: str) -> None:
    on_find, here = page == "find", state.visit()
    asked = _component(key="home", data={"onFind": on_find}, on_home_change=lambda: None, height=0).home
    if not asked or asked["time"] == here.gone_home:
        return
    here.gone_home = asked["time"]  # a run that was broken off may bring the same click again
    if asked["back"] and "s" in st.query_params:
        return  # Forward, or Back again, came quicker than this run
    if on_find:
        state.clear()
    else:
        st.switch_page("pages/find.py")
