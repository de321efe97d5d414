import { runTool } from "./tool.js";

/** Runs the built program under mixed traffic for a while and judges what became of it. */
export const soak = (args) => runTool("soak", args);
