/* Before the first paint: the viewer's choice of dark or light, else the system's. */
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("mantine-color-scheme-value");
  } catch (error) {
    /* storage may be forbidden; then the system decides */
  }
  if (chosen !== "dark" && chosen !== "light") {
    chosen = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  document.documentElement.setAttribute("data-mantine-color-scheme", chosen);
})();
