import { printable } from "./printable.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

const entityOf = (character: string): string => ENTITIES[character] ?? character;

/** Text between tags. A carriage return is written as a reference: readers make a line feed of a bare one. */
export const xmlText = (text: string): string => printable(text).replace(/[&<>\r]/g, entityOf);

/** An attribute with a blank before it. Blanks but spaces are references: readers make a space of bare ones. */
export const xmlAttribute = (name: string, value: string | number): string =>
  ` ${name}="${printable(String(value)).replace(/[&<>"\t\n\r]/g, entityOf)}"`;

/** Several attributes, in the order given. */
export const xmlAttributes = (attributes: Readonly<Record<string, string | number>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => xmlAttribute(name, value))
    .join("");
