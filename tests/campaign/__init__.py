"""Campaigns: the same harm done many times over, to be run by hand; short forms run with the tests."""
