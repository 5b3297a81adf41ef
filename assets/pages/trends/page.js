/* The Trends page: a range of one's own, the link, and the chart as a table or a picture. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});

  /* A moment as an input of type datetime-local takes it, in the viewer's zone. */
  weir.localTime = (ms) => weir.wallTime(ms).replace(" ", "T").slice(0, 16);

  function model(key) {
    const element = document.querySelector(`[data-plot="${key}"]`);
    return element && element.dataset.model ? JSON.parse(element.dataset.model) : null;
  }

  function own(button) {
    const box = button.closest("[data-own-range]");
    const [since, until] = ["since", "until"].map((side) => {
      const at = new Date(box.querySelector(`[data-range="${side}"]`).value).getTime();
      return Math.floor(at / 1000);
    });
    if (!Number.isFinite(since) || !Number.isFinite(until)) return;
    weir.go(box.dataset.ownRange.replace("SINCE-UNTIL", `${since}-${until}`));
  }

  function copied(button) {
    const before = button.textContent;
    navigator.clipboard.writeText(window.location.href).then(() => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = before), 2000);
    });
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("rangeGo" in button.dataset) own(button);
    else if ("copyLink" in button.dataset) copied(button);
    else if (button.dataset.csv && model(button.dataset.csv)) {
      weir.saveCsv(model(button.dataset.csv), "weir-trend");
    } else if (button.dataset.picture) {
      const element = document.querySelector(`[data-plot="${button.dataset.picture}"]`);
      if (element) weir.savePicture(element, "weir-trend");
    }
  });

  function field(box, word, side, ms) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "datetime-local";
    input.dataset.range = side;
    input.value = weir.localTime(ms);
    label.append(`${word} `, input);
    box.insertBefore(label, box.querySelector("button"));
  }

  /* A field that takes the name of one more cluster. */
  function adder(box) {
    if (box.querySelector("input")) return;
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.setAttribute("list", "trend-clusters");
    input.addEventListener("change", () => {
      const known = [...box.querySelectorAll("option")].some((option) => option.value === input.value);
      if (known) weir.go(box.dataset.addCluster.replace("NAME", encodeURIComponent(input.value)));
    });
    label.append(`${box.dataset.count} `, input);
    box.append(label);
  }

  weir.fillRanges = function () {
    for (const box of document.querySelectorAll("[data-add-cluster]")) adder(box);
    for (const box of document.querySelectorAll("[data-own-range]")) {
      const range = `${box.dataset.from}-${box.dataset.to}`;
      if (box.weirRange === range && box.querySelector("label")) continue;
      box.weirRange = range;
      for (const label of box.querySelectorAll("label")) label.remove();
      field(box, "from", "since", Number(box.dataset.from));
      field(box, "to", "until", Number(box.dataset.to));
    }
  };
})();
