/* Small things that every script needs: elements, texts and times. */
(function () {
  "use strict";
  const weir = (window.weir = window.weir || {});
  const NS = "http://www.w3.org/2000/svg";

  /* An element of a drawing. */
  weir.svg = function (name, attributes, parent, text) {
    const element = document.createElementNS(NS, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text != null) element.textContent = text;
    if (parent) parent.appendChild(element);
    return element;
  };

  /* The text itself is changed, not its node: whoever watches for new elements is not woken. */
  weir.setText = function (element, text) {
    const node = element.firstChild;
    if (node && node.nodeType === Node.TEXT_NODE && !node.nextSibling) {
      if (node.data !== text) node.data = text;
    } else if (element.textContent !== text) element.textContent = text;
  };

  /* The same value once more would be a change to style and lay out. */
  weir.setAttribute = function (element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  };

  /* To a component of Dash. */
  weir.send = (id, props) => window.dash_clientside.set_props(id, props);

  weir.escape = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  weir.cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

  /* Made once: to make one takes longer than to format a thousand times with it. */
  const clocks = [undefined, "2-digit"].map(
    (second) => new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second, hour12: false }),
  );
  weir.clock = (ms, withSeconds) => clocks[withSeconds ? 1 : 0].format(ms);

  /* What the server wants to see with whatever changes something. */
  weir.csrf = function () {
    const config = JSON.parse(document.getElementById("_dash-config").textContent);
    const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(config.csrf_token_name + "="));
    return found ? { [config.csrf_header_name]: found.split("=")[1] } : {};
  };
})();
