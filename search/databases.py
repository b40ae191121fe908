"""How every DuckDB file is opened: it reads no other file, loads no code, sees no variable of ours."""

from __future__ import annotations

LOCKED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
"""A database may come from a stranger: a corpus by its nature, a library when somebody moves its folder."""
