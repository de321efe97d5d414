import { render } from "preact";
import { App } from "./app.tsx";
import { listenToKeys } from "./keys.ts";
import { begin } from "./sources.ts";
import "./style.css";

const root = document.getElementById("app");
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
}
listenToKeys();
void begin();
