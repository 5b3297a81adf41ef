/* A page without a browser: the scripts of assets/ in a window of jsdom, which lays nothing out. */
import { readFileSync } from "node:fs";
import { JSDOM, VirtualConsole } from "jsdom";

const ASSETS = new URL("../../assets/", import.meta.url);

class Observer {
  observe() {}
  unobserve() {}
  disconnect() {}
}

/* The window after the scripts have run; `sent` is what they sent to components of Dash. */
export function open(scripts, html = "", url = "http://weir.test/") {
  const virtualConsole = new VirtualConsole();
  virtualConsole.on("jsdomError", (error) => {
    throw error; // a script that fails, fails the test
  });
  const { window } = new JSDOM(`<!DOCTYPE html><body>${html}</body>`, { runScripts: "outside-only", url, virtualConsole });
  const sent = [];
  window.ResizeObserver = Observer;
  window.IntersectionObserver = Observer;
  window.dash_clientside = { set_props: (id, props) => sent.push([id, props]), no_update: "no update" };
  for (const script of scripts) window.eval(readFileSync(new URL(script, ASSETS), "utf8"));
  return { window, document: window.document, weir: window.weir, sent };
}

/* What a layout would have given an element. */
export function sized(element, width, height) {
  Object.defineProperty(element, "clientWidth", { value: width, configurable: true });
  Object.defineProperty(element, "clientHeight", { value: height, configurable: true });
  return element;
}

export function press(page, target, key, more = {}) {
  const event = new page.window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  target.dispatchEvent(event);
  return event;
}

/* As plain values of this side: those of the window have other prototypes. */
export const plain = (value) => JSON.parse(JSON.stringify(value));

/* What observers of the page are told, they are told after the present task. */
export const settled = () => new Promise((resolve) => setTimeout(resolve, 0));
