# make app: everything up to the app in the browser.  make test: everything up to all tests passed.
# Second runs skip what is done: the stamps below are older than the requirements only when these change.

PYTHON ?= python3
PORT ?= 8501
CORPUS ?= corpus
HEADLESS ?= $(if $(CI),true,false)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: app demo test lint types browser screenshots clean

app: demo
	$(BIN)/python -m streamlit run app.py --server.port $(PORT) --server.headless $(HEADLESS) --server.showEmailPrompt false

demo: $(CORPUS)/current

$(CORPUS)/current: | $(VENV)/app.stamp
	$(BIN)/python -m index_build demo --out $(CORPUS)

test: lint types browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/browser
	$(BIN)/python -m pytest tests/browser

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

# Browser tests use Debian's Chromium. Where it can be installed it is; where not, they skip and say why.
browser: $(VENV)/test.stamp
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	     && echo "Installing Chromium for the browser tests" \
	     && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	|| echo "No Chromium here and it cannot be installed: the browser tests will be skipped."

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

$(VENV)/test.stamp: requirements-dev.txt $(VENV)/app.stamp
	$(PIP) -r requirements-dev.txt
	@touch $@

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache
