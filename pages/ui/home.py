"""The logo, "Find" while it is shown, and Back to the start lead to the start page.

Streamlit itself stays where it is, and from an address without a search one cannot tell which of them it was.
"""

from __future__ import annotations

import streamlit as st

from pages.ui import state

SCRIPT = """
export default function ({ data, setTriggerValue }) {
  const logo = "[data-testid=stHeaderLogo], [data-testid=stSidebarLogo]";
  const tell = () => setTriggerValue("home", Date.now());
  const onClick = (event) => {
    const entry = event.target.closest("[data-testid$=NavLink]");
    const again = data.onFind && entry && new URL(entry.href).pathname === location.pathname;
    if (again || event.target.closest(logo)) {
      event.preventDefault();
      event.stopPropagation();
      tell();
    }
  };
  const onBack = () => {
    if (data.onFind && !new URLSearchParams(location.search).get("s")) tell();
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
    if not asked or asked == here.gone_home:
        return
    here.gone_home = asked  # a run that was broken off may bring the same click again
    if on_find:
        state.clear()
    else:
        st.switch_page("pages/find.py")
