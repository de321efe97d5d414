import { type Endpoint, isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ERROR_CODES } from "../../src/api/errors.ts";
import { openApiDocument } from "../../src/api/openapi.ts";
import { registry } from "../../src/api/schemas.ts";
import { CHAIN_CALLS, CONTROL_CALLS } from "../../src/client/control-calls.ts";
import { SETTINGS } from "../../src/config.ts";
import type { OptionKinds, Setting } from "../../src/setting.ts";

/** The part of JSON Schema that the messages use. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly pattern?: string;
}

const endpoints: readonly Endpoint[] = ENDPOINTS;
const document = openApiDocument({ version: "", serverUrl: "", numbers: "number", unknownFields: "accept" });
const { schemas } = document.components as { readonly schemas: Readonly<Record<string, Schema>> };

/** Published names of components whose own names mean something else in JavaScript or in the client. */
const RENAMED: Readonly<Record<string, string>> = {
  Event: "MarketEvent",
  NewOrder: "OrderBody",
  SpreadReply: "Spread",
};
const nameOf = (component: string): string => RENAMED[component] ?? component;

/** Names and comments of the filters of lists, by operation. */
const FILTERS: Readonly<Record<string, readonly [name: string, about: string]>> = {
  listOrders: ["OrderFilter", "Filter of the caller's open orders."],
  listTrades: ["TradeFilter", "Filter of the caller's fills."],
  listEvents: ["EventFilter", "Filter of events."],
  listMarkets: ["MarketFilter", "Filter and order of markets."],
  listMarketTrades: ["MarketTradeFilter", "Filter of a market's trades."],
  getPricesHistory: ["HistoryRange", "Range and maximum number of points of a price history."],
};

const PAGES = `/** Part of a list; omitted fields have the server's default. */
export interface PageWindow {
  /** Maximum number of items; the server reduces it to its own maximum. */
  readonly limit?: number;
  /** Number of items to skip. */
  readonly offset?: number;
}

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** The applied limit. */
  readonly limit: number;
  readonly offset: number;
  /** Number of items in the whole list. */
  readonly total: number;
  readonly hasMore: boolean;
}
`;

const componentIn = ({ $ref = "" }: Schema): string => $ref.split("/").at(-1) as string;
const targetOf = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[componentIn(schema)] as Schema);

/** Whether a schema is a number or text, which has no type of its own. */
const isScalar = ({ type, enum: words }: Schema): boolean =>
  (type === "string" || type === "number" || type === "integer") && words === undefined;

const comment = (text: string): string => (text === "" ? "" : `/** ${text} */\n`);

function about(schema: Schema): string {
  const target = targetOf(schema);
  const [description] = [schema, ...(schema.anyOf ?? [])]
    .map((each) => each.description ?? (isScalar(targetOf(each)) ? targetOf(each).description : undefined))
    .filter((each) => each !== undefined);
  const byDefault = target.default === undefined ? [] : [`Default ${JSON.stringify(target.default)}.`];
  return comment([...(description === undefined ? [] : [description]), ...byDefault].join(" "));
}

/** Writes the type of a schema; calls `onName` with each component that it names. */
function typeText(schema: Schema, onName: (component: string) => void): string {
  const text = (each: Schema): string => typeText(each, onName);
  if (schema.$ref !== undefined) {
    const component = componentIn(schema);
    if (isScalar(targetOf(schema))) return text(targetOf(schema));
    const item = targetOf(schema).properties?.hasMore && targetOf(schema).properties?.data?.items;
    if (item !== undefined) return `Page<${text(item)}>`;
    onName(component);
    return nameOf(component);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map(text).join(" | ");
  if (schema.type === "array") {
    const item = text(schema.items ?? {});
    return item.includes(" | ") ? `readonly (${item})[]` : `readonly ${item}[]`;
  }
  if (schema.type === "object") return objectText(schema, onName);
  if (schema.type === "string" && schema.pattern?.startsWith("^0x") === true) return `\`0x\${string}\``;
  return [schema.type ?? "unknown"].flat().join(" | ").replace("integer", "number");
}

function objectText(
  { properties, required = [], additionalProperties: others }: Schema,
  onName: (component: string) => void,
): string {
  if (properties === undefined) return `Readonly<Record<string, ${typeText(others || {}, onName)}>>`;
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${about(field)}readonly ${name}${required.includes(name) ? "" : "?"}: ${typeText(field, onName)};\n`,
  );
  const rest = others ? [`readonly [name: string]: ${typeText(others, onName)};\n`] : [];
  return `{\n${[...fields, ...rest].join("")}}`;
}

const declaration = (name: string, schema: Schema, text: string): string =>
  comment(schema.description ?? "") +
  (schema.properties === undefined
    ? `export type ${name} = ${text};\n`
    : `export interface ${name} ${text}\n`);

function filterText({ operation, query }: Endpoint): string {
  const [name = "", summary = ""] = FILTERS[operation] ?? [];
  const fields = Object.entries(query).map(
    ([field, { description, schema }]) =>
      // The client uses camelCase for all names.
      `${comment(description)}readonly ${field === "token_id" ? "tokenId" : field}?: ${typeText(schema, () => {})};\n`,
  );
  // A type rather than an interface, so that it is assignable to a record of parameters.
  return `${comment(summary)}export type ${name} = {\n${fields.join("")}};\n`;
}

/** Returns the declarations of schemas and of the schemas they use, sorted by name, because registry order depends on load order. */
function declarationsOf(roots: readonly string[]): string[] {
  const declared = new Map<string, string>();
  const waiting = [...roots];
  for (let component = waiting.shift(); component !== undefined; component = waiting.shift()) {
    if (declared.has(component)) continue;
    const schema = schemas[component] as Schema;
    const text = typeText(schema, (name) => waiting.push(name));
    declared.set(component, declaration(nameOf(component), schema, text));
  }
  return [...declared].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
}

const idOf = (schema: Endpoint["reply"]): string => registry.get(schema)?.id ?? "";
const replyOf = ({ reply }: Endpoint, onName = (_component: string): void => {}): string =>
  typeText({ $ref: idOf(reply) }, onName);

/** Writes `api-messages`: bodies, replies and the schemas they use, filters of lists, error codes. */
function messagesText(): string {
  const used = endpoints.flatMap(({ body }) => (body === null || isRaw(body) ? [] : [idOf(body.schema)]));
  const replies = endpoints.map(
    (endpoint) =>
      `readonly ${endpoint.operation}: ${replyOf(endpoint, (component) => used.push(component))};\n`,
  );
  return [
    PAGES,
    ...declarationsOf(used),
    ...endpoints.filter(({ operation }) => operation in FILTERS).map(filterText),
    "/** Error codes; docs/reference/errors.md explains them. */",
    `export type ErrorCode = ${ERROR_CODES.map((code) => JSON.stringify(code)).join(" | ")};`,
    "/** Replies by operation of the OpenAPI document. */",
    `export interface Replies {\n${replies.join("")}}`,
    '/** Reply of an operation, by its name in the OpenAPI document: `ReplyTo<"getClock">`. */',
    "export type ReplyTo<Operation extends keyof Replies> = Replies[Operation];",
  ].join("\n");
}

/** Writes `control-calls`: a method for each row of the tables, with the summary of its endpoint. */
function callsText(): string {
  const tables = Object.entries({ ChainCalls: CHAIN_CALLS, ControlCalls: CONTROL_CALLS });
  const calls = tables.map(
    ([name, table]) => `export interface ${name} {\n${Object.entries(table).map(callText).join("")}}`,
  );
  return [
    'import type * as api from "./api-messages.js";',
    'import type { Result } from "./result.js";',
    ...calls,
  ].join("\n");
}

function callText([name, route]: [name: string, route: string]): string {
  const endpoint = endpoints.find((each) => each.route === route) as Endpoint;
  const { path, query, body, summary } = endpoint;
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `${parameter}: string`);
  if (body !== null && !isRaw(body)) parameters.push(`body: api.${nameOf(idOf(body.schema))}`);
  // Endpoints with a filter have methods of their own elsewhere.
  else if (Object.keys(query).length > 0) parameters.push("window?: api.PageWindow");
  const reply = replyOf(endpoint).replace(/\b[A-Z]/g, "api.$&");
  return `${comment(`${summary}.`)}${name}(${parameters.join(", ")}): Promise<Result<${reply}>>;\n`;
}

const OPTION_TYPES: Readonly<Record<keyof OptionKinds, string>> = {
  number: "number",
  truth: "boolean",
  textOrNumber: "string | number",
  texts: "string | readonly string[]",
};

function optionText([name, setting]: [name: string, setting: Setting<unknown>]): string {
  const { help, toggle, option, words } = setting;
  const type = words?.map((word) => JSON.stringify(word)).join(" | ") ?? "string";
  const own = name === "clock" ? `"real" | "frozen" | \`\${number}x\`` : type;
  const about = toggle === "off" ? `False: ${help[0]?.toLowerCase()}${help.slice(1)}` : help;
  return `${comment(`${about}.`)}readonly ${name}?: ${option === undefined ? own : OPTION_TYPES[option]};\n`;
}

/** Writes `start-options`: an option for each setting of the server, with its help. */
const optionsText = (): string => `/**
 * The settings of \`clobsim serve\`, as docs/reference/configuration.md explains them. Three defaults differ: \`port\` is 0
 * (any free port), \`logLevel\` is silent, and nothing is written to disk unless \`data\` names a directory.
 */
export interface StartOptions {\n${Object.entries<Setting<unknown>>(SETTINGS).map(optionText).join("")}}
`;

/** Returns declarations by path for the modules whose own would need zod, or would not have the help of an option. */
export const publishedTypes = (): Readonly<Record<string, string>> => ({
  "client/api-messages.d.ts": messagesText(),
  "client/control-calls.d.ts": callsText(),
  "start-options.d.ts": optionsText(),
});
