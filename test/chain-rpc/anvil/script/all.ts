import type { Step } from "../step.ts";
import { CONTROL } from "./control.ts";
import { ADDING_TIME, FILTERS, MINING } from "./mining.ts";
import { CONSTANTS, FEES, READING } from "./reading.ts";
import { FOREIGN, NAMES, SENDING } from "./sending.ts";
import { WRONG } from "./wrong.ts";

/** Requests that are sent in this order to a new node of a chain without trades. */
export const SCRIPT: readonly Step[] = [
  ...[...READING, ...CONSTANTS, ...FEES, ...ADDING_TIME, ...SENDING, ...NAMES],
  ...[...MINING, ...FILTERS, ...CONTROL, ...FOREIGN, ...WRONG],
];
