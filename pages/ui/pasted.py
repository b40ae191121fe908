"""What is typed into the text box outlives a reload: the tab keeps it until a search has begun."""

from __future__ import annotations

import streamlit as st

SCRIPT = """
const name = "triptych-pasted";

export default function ({ data }) {
  if (data.begun) {
    sessionStorage.removeItem(name);
    return;
  }
  const box = document.querySelector(".st-key-pasted textarea");
  const kept = sessionStorage.getItem(name);
  if (box && kept && !box.value) {
    // React takes up what its own setter did not write.
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(box, kept);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const keep = (event) => {
    if (event.target.closest?.(".st-key-pasted")) sessionStorage.setItem(name, event.target.value);
  };
  document.addEventListener("input", keep);
  return () => document.removeEventListener("input", keep);
}
"""
_component = st.components.v2.component("pasted", js=SCRIPT)


def keep(begun: bool) -> None:
    """Keeps the text of the box, or forgets it once a search has begun."""
    _component(key="keep-pasted", data={"begun": begun}, height=0)
