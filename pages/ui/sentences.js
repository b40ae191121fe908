// Draws the query's sentences. A click shows at once and is told with all that came before it until the answer says
// that it was taken. Every text comes in as text and is set as text: nothing of a paper becomes markup.

const SYMBOLS = { match: "●", ignore: "○", avoid: "⊘" };

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A question, or how a single sentence is meant: a name with a line below it.
function choiceButton(one, onclick) {
  const name = element("span", "name", one.name);
  const line = element("span", "line", one.line);
  const button = element("button", "question", name, line);
  button.type = "button";
  button.title = one.told;
  button.setAttribute("aria-label", one.name);
  button.setAttribute("aria-description", `${one.line} ${one.told}`);
  button.onclick = onclick;
  return button;
}

class Row {
  constructor(view, paper, sentence) {
    Object.assign(this, { view, paper, sentence, place: { paper, sentence } });
    this.name = `Sentence ${sentence + 1}`;
    this.text = element("p", "text");
    this.printed = element("span", "printed");
    this.controls = element("div", "controls", this.makeLabel(), this.makeChoice(), this.makeDoubt());
    this.weighing = this.makeWeight();
    this.root = element("li", "row", this.text, this.printed, this.controls, this.weighing);
    this.root.dataset.sentence = `${paper}-${sentence}`;
    this.chip = element("button", "chip");
    this.chip.type = "button";
    this.chip.onclick = () => view.unfold(this);
  }

  makeLabel() {
    this.label = element("select", "label", ...this.view.data.labels.map(([facet, word]) => new Option(word, facet)));
    this.label.setAttribute("aria-label", `${this.name}: label`);
    this.label.onchange = () => this.view.click({ ...this.place, facet: this.label.value });
    return this.label;
  }

  makeChoice() {
    this.radios = this.view.data.choices.map(([value, word]) => {
      const radio = Object.assign(document.createElement("input"), {
        type: "radio", value, name: `choice-${this.paper}-${this.sentence}`,
      });
      radio.onchange = () => this.view.click({ ...this.place, choice: value });
      return [radio, element("label", "", radio, element("span", "", word))];
    });
    const group = element("div", "choice", ...this.radios.map(([, label]) => label));
    group.hidden = this.view.data.readings.length > 0; // a single sentence can only be matched
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", `${this.name}: match, ignore or avoid`);
    return group;
  }

  makeDoubt() {
    this.doubt = element("button", "doubt");
    this.doubt.type = "button";
    this.doubt.title = "The label is a guess. Click to change it.";
    this.doubt.onclick = () => this.view.click({ ...this.place, facet: this.given.doubt[0] });
    return this.doubt;
  }

  makeWeight() {
    this.weight = Object.assign(document.createElement("input"), { type: "range", min: 0.25, max: 4, step: 0.25 });
    this.weight.setAttribute("aria-label", `${this.name}: weight`);
    this.weight.oninput = () => this.tellWeight();
    this.weight.onchange = () => this.view.click({ ...this.place, weight: Number(this.weight.value) });
    this.times = element("span", "quiet");
    return element("div", "weight", this.weight, this.times);
  }

  tellWeight() {
    this.times.textContent = `× ${Number(this.weight.value).toFixed(2)}`;
  }

  update(given, weighs) {
    this.given = given;
    const [, word, panel] = this.view.data.labels.find(([facet]) => facet === given.facet);
    const choice = this.view.data.choices.find(([value]) => value === given.choice)[1];
    const open = this.view.state.unfolded === this.root.dataset.sentence;
    this.root.className = `row ${panel} ${given.choice}${open ? " unfolded" : ""}`;
    this.text.replaceChildren(element("span", "place", String(this.sentence + 1)), given.text);
    this.printed.textContent = `${word}, ${choice.toLowerCase()}`;
    this.label.value = given.facet;
    for (const [radio] of this.radios) radio.checked = radio.value === given.choice;
    this.doubt.hidden = !given.doubt;
    if (given.doubt) {
      this.doubt.textContent = `⇄ may be ${given.doubt[1]}`;
      this.doubt.setAttribute("aria-label", `${this.sentence + 1} may be ${given.doubt[1]}`);
    }
    this.weighing.hidden = !weighs || given.choice === "ignore";
    if (this.view.root.activeElement !== this.weight) this.weight.value = given.weight;
    this.tellWeight();
    this.chip.className = `chip ${panel} ${given.choice}`;
    this.chip.textContent = `${this.sentence + 1} ${SYMBOLS[given.choice]} ${word}`;
    this.chip.setAttribute("aria-label", `${this.name}: ${word}, ${choice}`);
    this.chip.setAttribute("aria-expanded", String(open));
  }
}

// One query on the page: its rows are made once and then brought up to date, so that nothing loses the focus.
class View {
  constructor(root, state, data) {
    Object.assign(this, { root, state, data });
    this.asking = [
      ...data.questions.map((one) => choiceButton(one, () => this.click({ ask: one.name }))),
      ...data.readings.map((one) => choiceButton(one, () => this.click({ paper: 0, sentence: 0, facet: one.facet }))),
    ];
    const questions = element("div", "questions", ...this.asking, data.questions.length ? this.makeWeigh() : null);
    questions.setAttribute("role", "group");
    questions.setAttribute("aria-label", "What to look for");
    this.papers = data.papers.map((paper, number) => paper.rows.map((_, sentence) => new Row(this, number, sentence)));
    const blocks = data.papers.map((paper, number) => this.makePaper(paper, this.papers[number]));
    this.box = element("div", "yours", questions, ...blocks);
  }

  makeWeigh() {
    this.weighs = Object.assign(document.createElement("input"), { type: "checkbox", checked: this.state.weighs });
    this.weighs.onchange = () => {
      this.state.weighs = this.weighs.checked;
      this.update();
    };
    const label = element("label", "weigh", this.weighs, "Weigh sentences");
    label.title = "Let a sentence count more or less.";
    return label;
  }

  makePaper(paper, rows) {
    const chips = element("div", "chips", ...rows.map((row) => row.chip));
    const list = element("ol", "", ...rows.map((row) => row.root));
    const all = [chips, list, paper.more ? element("p", "quiet", paper.more) : null];
    return this.data.papers.length === 1
      ? element("div", "paper", ...all)
      : element("details", "paper", element("summary", "", paper.title), ...all);
  }

  unfold(row) {
    const asked = row.root.dataset.sentence;
    this.state.unfolded = this.state.unfolded === asked ? "" : asked;
    this.update();
  }

  click(what) {
    this.state.number += 1;
    this.state.asked = what.ask ?? this.state.asked;
    this.state.waiting.push({ ...what, number: this.state.number });
    this.update();
    this.tell({ draft: this.data.draft, clicks: this.state.waiting });
  }

  // The rows as they will be when all that was clicked is taken.
  expected() {
    const papers = this.data.papers.map((paper) => paper.rows.map((row) => ({ ...row })));
    for (const { ask, paper, sentence, number, ...change } of this.state.waiting) {
      const question = this.data.questions.findIndex((one) => one.name === ask);
      if (question >= 0) papers.forEach((rows, one) => this.asked(question, one).forEach((choice, place) => {
        rows[place].choice = choice;
      }));
      const row = papers[paper]?.[sentence];
      if (row && change.facet && change.facet !== row.facet) row.doubt = null;
      if (row) Object.assign(row, change);
    }
    return papers;
  }

  // The question that made these choices; where several would have, the one that was clicked last.
  inForce(papers) {
    const fits = this.data.questions.filter((one, question) => {
      const same = (rows, number) => this.asked(question, number).every((choice, place) => choice === rows[place].choice);
      return one.matches && (this.state.waiting.length ? papers.every(same) : one.asked);
    });
    return fits.find((one) => one.name === this.state.asked) ?? fits.at(-1);
  }

  // What a question makes of each sentence of a paper.
  asked(question, paper) {
    return this.data.papers[paper].asked[question];
  }

  update() {
    const papers = this.expected();
    papers.forEach((rows, number) => rows.forEach((row, place) => {
      this.papers[number][place].update(row, this.state.weighs);
    }));
    const inForce = this.inForce(papers);
    this.data.questions.forEach((one, question) => {
      this.asking[question].setAttribute("aria-pressed", String(one === inForce));
      this.asking[question].disabled = !one.matches;
      this.asking[question].title = one.matches ? one.told : `${one.told} No sentence is labelled so: correct a label first.`;
    });
    this.data.readings.forEach((one, place) => {
      const panel = (facet) => this.data.labels.find(([name]) => name === facet)[2];
      this.asking[place].setAttribute("aria-pressed", String(panel(one.facet) === panel(papers[0][0].facet)));
    });
  }
}

const shown = new WeakMap();

export default function ({ data, parentElement, setStateValue }) {
  let state = shown.get(parentElement);
  if (state?.draft !== data.draft) {
    state = { draft: data.draft, number: 0, waiting: [], asked: "", weighs: false, unfolded: "", view: null };
    shown.set(parentElement, state);
  }
  state.number = Math.max(state.number, data.taken);
  state.waiting = state.waiting.filter((each) => each.number > data.taken);
  if (!state.view) {
    state.view = new View(parentElement, state, data);
    state.weighs = data.papers.some((paper) => paper.rows.some((row) => row.weight !== 1));
    if (state.view.weighs) state.view.weighs.checked = state.weighs;
    parentElement.querySelector(".yours")?.remove();
    parentElement.append(state.view.box);
  }
  state.view.data = data;
  state.view.tell = (told) => setStateValue("told", told);
  state.view.update();
  return connect(state.view.box);
}
