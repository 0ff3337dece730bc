"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const whole = new Intl.NumberFormat("en");
  const PAGE = 25;
  const NUMBERED = 12; // classes whose matrices have numbers in their cells
  const DRAWN = 40; // classes whose matrices are drawn at all

  // Text reaches the page through textContent alone, so nothing a user wrote is ever markup.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (value !== null && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const percent = (share, digits = 1) => (100 * share).toFixed(digits) + "%";
  const FORMS = {
    text: (value) => String(value),
    group: (value) => String(value),
    count: (value) => whole.format(value),
    share: (value) => percent(value),
    number: (value) => value.toFixed(3),
  };
  const formatted = (column, value) =>
    value === null || value === undefined ? "–" : FORMS[column.kind](value);

  // Confusion matrices: one byte per cell.
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const matrices = (packed) => {
    const size = data.classes.length ** 2;
    let cells = null;
    const place = packed.of && new Map(packed.of.map((row, at) => [row, at]));
    return (row) => {
      const at = place ? place.get(row) : row;
      if (at === undefined) return null;
      cells ??= bytes(packed.cells);
      return cells.subarray(at * size, (at + 1) * size);
    };
  };

  const matrixTable = (cells, whose) => {
    const C = data.classes.length;
    const table = make("table", { class: "matrix" + (C > NUMBERED ? " dense" : "") });
    table.append(make("caption", { class: "quiet", text: `${whose}: each row is what an item is, each column what they say of it, in percent of the row.` }));
    const head = make("tr", {}, make("td"));
    for (const name of data.classes) head.append(make("th", { scope: "col", title: name }, make("span", { text: name })));
    table.append(make("thead", {}, head));
    const body = make("tbody");
    data.classes.forEach((name, c) => {
      const row = make("tr", {}, make("th", { scope: "row", title: name, text: name }));
      data.classes.forEach((given, l) => {
        const share = cells[c * C + l] / 255;
        const cell = make("td", { title: `${name} called ${given}: ${percent(share, 0)}`, class: share > 0.5 ? "full" : null });
        cell.style.setProperty("--share", share.toFixed(3));
        if (C <= NUMBERED) cell.textContent = share < 0.005 ? "·" : Math.round(100 * share);
        row.append(cell);
      });
      body.append(row);
    });
    table.append(body);
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix" }, table);
  };

  const mistakes = (cells, most) => {
    const C = data.classes.length;
    const wrong = [];
    for (let at = 0; at < cells.length; at++) {
      if (Math.floor(at / C) !== at % C && cells[at] >= 13) wrong.push(at);
    }
    wrong.sort((a, b) => cells[b] - cells[a]);
    const list = make("ol", { class: "mistakes" });
    for (const at of wrong.slice(0, most)) {
      list.append(make("li", { text: `${data.classes[Math.floor(at / C)]} taken for ${data.classes[at % C]}: ${percent(cells[at] / 255, 0)}` }));
    }
    const left = wrong.length - Math.min(most, wrong.length);
    if (left) list.append(make("li", { class: "quiet", text: `and ${whole.format(left)} more of 5% or over` }));
    return wrong.length ? make("div", {}, make("h4", { text: "Most frequent mistakes" }), list)
      : make("p", { class: "quiet", text: "No mistake reaches 5% of a class." });
  };

  const confusion = (cells, whose) => {
    const large = data.classes.length > DRAWN;
    const parts = make("div", { class: "confusion" });
    if (!large) parts.append(matrixTable(cells, whose));
    parts.append(mistakes(cells, large ? 20 : 5));
    return parts;
  };

  const factList = (pairs) => {
    const list = make("dl", { class: "facts" });
    for (const [title, value] of pairs) list.append(make("div", {}, make("dt", { text: title }), make("dd", { text: value })));
    return list;
  };

  // A sortable, searchable table that draws PAGE rows at a time.
  const listing = (root, spec) => {
    const { values, detail } = spec;
    const columns = spec.columns.filter((column) => !column.opened); // the others are told in the panel
    const noun = root.dataset.noun;
    const total = values[columns[0].key].length;
    let sort = spec.sort;
    let limit = PAGE;
    let chosen = [];
    const open = new Set();
    const said = spec.columns.filter((column) => column.kind === "text").map((column) => values[column.key]);
    let haystack = null;

    const search = make("input", { type: "search", id: `${noun}-search`, autocomplete: "off", spellcheck: "false", placeholder: spec.placeholder });
    const controls = make("div", { class: "controls" }, make("label", { for: search.id, class: "unseen", text: `Search ${noun}` }), search);
    let group = null;
    if (spec.groups) {
      group = make("select", { id: `${noun}-group` }, make("option", { value: "", text: "all groups" }));
      for (const g of spec.groups) group.append(make("option", { value: g, text: `group ${g}` }));
      controls.append(make("label", { for: group.id, class: "unseen", text: "Group" }), group);
      group.addEventListener("change", () => update());
    }
    let suspects = null;
    if (spec.suspected) {
      suspects = make("input", { type: "checkbox", id: `${noun}-suspects` });
      controls.append(make("span", { class: "tick" }, suspects, make("label", { for: suspects.id, text: `only the ${whole.format(spec.suspected)} suspected of spam` })));
      suspects.addEventListener("change", () => update());
    }
    const status = make("output", { "aria-live": "polite" });
    controls.append(status);

    const head = make("tr");
    const heads = columns.map((column) => {
      const button = make("button", { type: "button", text: column.title });
      const cell = make("th", { scope: "col", class: classOf(column) }, button);
      button.addEventListener("click", () => {
        const same = sort.key === column.key;
        sort = { key: column.key, down: same ? !sort.down : column.kind !== "text" && column.kind !== "group" };
        update();
      });
      head.append(cell);
      return cell;
    });
    const body = make("tbody");
    const table = make("table", { class: "rows" }, make("thead", {}, head), body);
    const more = make("button", { type: "button", class: "more" });
    more.addEventListener("click", () => {
      const first = Math.min(limit, chosen.length);
      limit += 4 * PAGE;
      draw();
      body.querySelectorAll("button.open")[first]?.focus();
    });
    root.append(controls, make("div", { class: "scroll" }, table), more);
    search.addEventListener("input", () => update());

    function classOf(column) {
      return [column.kind === "text" || column === columns[0] ? "" : "number", column.wide ? "wide" : ""].join(" ").trim() || null;
    }

    function update() {
      const wanted = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (wanted.length) haystack ??= Array.from({ length: total }, (_, i) => said.map((column) => column[i] ?? "").join("\n").toLowerCase());
      const only = group && group.value !== "" ? Number(group.value) : null;
      chosen = [];
      for (let i = 0; i < total; i++) {
        if (only !== null && values.group[i] !== only) continue;
        if (suspects?.checked && values.suspected_spammer[i] !== "yes") continue;
        if (wanted.every((word) => haystack[i].includes(word))) chosen.push(i);
      }
      const column = values[sort.key];
      const text = columns.find((one) => one.key === sort.key).kind === "text";
      const turn = sort.down ? -1 : 1;
      chosen.sort((a, b) => {
        const x = column[a], y = column[b];
        if (x === null || y === null) return (x === null) - (y === null) || a - b; // unknown last
        return turn * (text ? collator.compare(x, y) : x - y) || a - b;
      });
      heads.forEach((cell, at) => {
        const here = columns[at].key === sort.key;
        if (here) cell.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
        else cell.removeAttribute("aria-sort");
      });
      limit = PAGE;
      draw();
    }

    function draw() {
      const drawn = chosen.slice(0, limit);
      body.replaceChildren(...drawn.flatMap(rowsOf));
      const found = chosen.length === total ? `${whole.format(total)} ${noun}` : `${whole.format(chosen.length)} of ${whole.format(total)} ${noun}`;
      status.textContent = drawn.length < chosen.length ? `${whole.format(drawn.length)} shown of ${found}` : found;
      const left = chosen.length - drawn.length;
      more.hidden = left === 0;
      more.textContent = `Show ${whole.format(Math.min(left, 4 * PAGE))} more`;
    }

    function rowsOf(i) {
      const button = make("button", { type: "button", class: "open", "aria-expanded": open.has(i) }, make("bdi", { text: formatted(columns[0], values[columns[0].key][i]) }));
      const row = make("tr", { class: values.suspected_spammer?.[i] === "yes" ? "suspected" : null }, make("th", { scope: "row" }, button));
      for (const column of columns.slice(1)) {
        const value = values[column.key][i];
        const cell = make("td", { class: classOf(column), text: formatted(column, value) });
        if (column.kind === "share" && value !== null) {
          cell.classList.add("share");
          cell.style.setProperty("--share", Math.max(0, Math.min(1, value)));
        }
        if (spec.range && column.key === "accuracy") {
          const range = spec.range(i);
          if (range) cell.prepend(make("small", { class: "range", text: range }), " ");
        }
        if (column.key === "suspected_spammer") cell.replaceChildren(...(value === "yes" ? [make("b", { class: "suspect", text: "suspected" })] : []));
        row.append(cell);
      }
      const panel = () => {
        const id = `${noun}-${i}`;
        button.setAttribute("aria-controls", id);
        return make("tr", { class: "panel", id }, make("td", { colspan: columns.length }, detail(i)));
      };
      button.addEventListener("click", () => {
        if (open.delete(i)) {
          row.nextElementSibling.remove();
          button.removeAttribute("aria-controls");
        } else {
          open.add(i);
          row.after(panel());
        }
        button.setAttribute("aria-expanded", open.has(i));
      });
      return open.has(i) ? [row, panel()] : [row];
    }

    update();
    return { show: (value) => { group.value = String(value); search.value = ""; if (suspects) suspects.checked = false; update(); root.scrollIntoView(); search.focus({ preventScroll: true }); } };
  };

  const home = (name) => document.querySelector(`[data-table="${name}"]`);

  // Annotators
  const people = data.annotators;
  const ofPerson = matrices(people.matrices);
  const hasGroups = "group" in people.values;
  const within = (i, digits) => {
    const low = people.values.accuracy_low?.[i] ?? null, high = people.values.accuracy_high?.[i] ?? null;
    return low === null || high === null ? null : `${(100 * low).toFixed(digits)}–${percent(high, digits)}`;
  };
  const peopleTable = listing(home("annotators"), {
    columns: people.columns,
    values: people.values,
    placeholder: "Search annotators",
    groups: hasGroups ? [...new Set(people.values.group)].filter((g) => g !== null).sort((a, b) => a - b) : null,
    sort: { key: "labels", down: true },
    suspected: people.suspected,
    range: (i) => within(i, 0),
    detail: (i) => {
      const name = people.values.annotator[i];
      const apart = ["accuracy_low", "accuracy_high", "reason", "suspected_spammer"];
      const facts = people.columns.slice(1).filter((column) => !apart.includes(column.key)).map((column) => [column.title, formatted(column, people.values[column.key][i])]);
      const interval = within(i, 1);
      if (interval) facts.splice(2, 0, ["accuracy, 95% interval", interval]);
      const panel = make("div", { class: "detail" }, factList(facts));
      const reason = people.values.reason?.[i];
      if (reason) panel.append(make("p", { class: "notice", text: (people.values.suspected_spammer?.[i] === "yes" ? "Suspected of spam: " : "") + reason + "." }));
      const labels = people.values.labels[i];
      if (labels <= people.few) panel.append(make("p", { class: "notice", text: labels ? `Only ${labels} label${labels === 1 ? "" : "s"}: every number here is uncertain.` : "No labels: nothing is known, and the matrix is what the method assumes." }));
      const cells = ofPerson(i);
      panel.append(cells ? confusion(cells, name) : make("p", { class: "notice", text: "The page has no room for this matrix; it is in confusions.parquet." }));
      return panel;
    },
  });

  // Groups
  if (data.groups) {
    const ofGroup = matrices(data.groups.matrices);
    listing(home("groups"), {
      columns: [
        { key: "group", title: "group", kind: "group" },
        { key: "annotators", title: "annotators", kind: "count" },
        { key: "labels", title: "labels", kind: "count", wide: true },
        { key: "accuracy", title: "accuracy", kind: "share" },
        { key: "mistake", title: "most frequent mistake", kind: "text", wide: true },
      ],
      values: data.groups.values,
      placeholder: "Search mistakes",
      sort: { key: "annotators", down: true },
      detail: (i) => {
        const g = data.groups.values.group[i];
        const link = make("button", { type: "button", class: "more", text: `Show the annotators of group ${g}` });
        link.addEventListener("click", () => peopleTable.show(g));
        const cells = ofGroup(i);
        return make("div", { class: "detail" }, link, cells ? confusion(cells, `Group ${g}, mean over its labels`) : make("p", { class: "notice", text: "The page has no room for this matrix." }));
      },
    });
  }

  // Items
  listing(home("items"), {
    columns: [
      { key: "item", title: "item", kind: "text" },
      { key: "consensus", title: "consensus", kind: "text" },
      { key: "probability", title: "probability", kind: "share" },
      { key: "votes", title: "votes", kind: "text", wide: true },
      { key: "why", title: "the consensus", kind: "text", wide: true },
    ],
    values: data.items.values,
    placeholder: "Search items, classes, votes",
    sort: { key: "probability", down: false },
    detail: (i) => {
      const own = data.items.values;
      const table = make("table", { class: "voices" }, make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "annotator" }), make("th", { scope: "col", text: "said" }), make("th", { scope: "col", class: "number", text: "accuracy" }))));
      const body = make("tbody");
      for (const [who, label] of own.voices[i]) {
        const accuracy = people.values.accuracy ? people.values.accuracy[who] : null;
        const agrees = data.classes[label] === own.consensus[i];
        body.append(make("tr", {}, make("th", { scope: "row" }, make("bdi", { text: people.values.annotator[who] })), make("td", { class: agrees ? "agrees" : null, text: data.classes[label] }), make("td", { class: "number", text: accuracy === null ? "–" : percent(accuracy) })));
      }
      table.append(body);
      const facts = [["consensus", `${own.consensus[i]}, ${percent(own.probability[i])}`], ["votes", own.votes[i]], ["the consensus", own.why[i]]];
      const panel = make("div", { class: "detail" }, factList(facts), table);
      const left = own.said[i] - own.voices[i].length;
      if (left) panel.append(make("p", { class: "quiet", text: `and ${whole.format(left)} more labels` }));
      return panel;
    },
  });

  // The map: pointing and arrow keys tell what a cell is.
  const field = document.querySelector(".map .field");
  if (field) {
    const map = data.map;
    const n = map.group.length;
    const levels = bytes(map.levels);
    const cursor = field.querySelector(".cursor");
    const out = document.getElementById("cell");
    let at = [0, 0];
    const who = (k) => {
      const people = map.annotators[k] === 1 ? map.name[k] : `${map.annotators[k]} annotators from ${map.name[k]}`;
      return hasGroups ? `${people} (group ${map.group[k]})` : people;
    };
    const show = (row, column) => {
      at = [Math.max(0, Math.min(n - 1, row)), Math.max(0, Math.min(n - 1, column))];
      cursor.setAttribute("y", at[0]);
      cursor.setAttribute("x", at[1]);
      cursor.setAttribute("visibility", "visible");
      const pair = at[0] === at[1] ? `${who(at[0])}, among themselves` : `${who(at[0])} and ${who(at[1])}`;
      out.textContent = map.annotators[at[0]] === 1 && at[0] === at[1] ? who(at[0]) : `${pair}: ${((map.top * levels[at[0] * n + at[1]]) / 255).toPrecision(2)}`;
    };
    field.addEventListener("pointermove", (event) => {
      const box = field.getBoundingClientRect();
      show(Math.floor((n * (event.clientY - box.top)) / box.height), Math.floor((n * (event.clientX - box.left)) / box.width));
    });
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    field.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      show(at[0] + step[0], at[1] + step[1]);
    });
    field.addEventListener("focus", () => show(...at));
  }

  document.documentElement.dataset.ready = performance.now().toFixed(0);
})();
