import { type Endpoint, isRaw } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { ERROR_CODES } from "../../src/api/errors.ts";
import { openApiDocument } from "../../src/api/openapi.ts";
import { registry } from "../../src/api/schemas.ts";

/** The part of JSON Schema that the messages need. */
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

const document = openApiDocument({ version: "", serverUrl: "", numbers: "number", unknownFields: "accept" });
const { schemas } = document.components as { readonly schemas: Readonly<Record<string, Schema>> };

/** Components that have another name for users: what JavaScript or the client itself calls so is something else. */
const RENAMED: Readonly<Record<string, string>> = {
  Event: "MarketEvent",
  NewOrder: "OrderBody",
  SpreadReply: "Spread",
};
const nameOf = (component: string): string => RENAMED[component] ?? component;

/** The filters of lists, by the operations that take them. */
const FILTERS: Readonly<Record<string, readonly [name: string, about: string]>> = {
  listOrders: ["OrderFilter", "Which of the caller's open orders."],
  listTrades: ["TradeFilter", "Which of the caller's fills."],
  listEvents: ["EventFilter", "Which events."],
  listMarkets: ["MarketFilter", "Which markets, and in what order."],
  listMarketTrades: ["MarketTradeFilter", "Which of a market's trades."],
  getPricesHistory: ["HistoryRange", "Which part of a price history, and at most how many points."],
};

const HEAD = `// Made from the schemas of src/api by \`npx vitest run test/client/generated-messages.test.ts -u\`.
`;

const PAGES = `/** Which part of a list is asked for; what is left out is the server's default. */
export interface PageWindow {
  /** How many items at most; the server clamps it to its maximum. */
  readonly limit?: number;
  /** How many items to skip. */
  readonly offset?: number;
}

/** One page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  /** The limit that was applied. */
  readonly limit: number;
  readonly offset: number;
  /** How many items the whole list has. */
  readonly total: number;
  readonly hasMore: boolean;
}
`;

const componentIn = ({ $ref = "" }: Schema): string => $ref.split("/").at(-1) as string;
const targetOf = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[componentIn(schema)] as Schema);

/** Numbers and texts are said in place, all else has a name. */
const isScalar = ({ type, enum: words }: Schema): boolean =>
  (type === "string" || type === "number" || type === "integer") && words === undefined;

const comment = (text: string): string => (text === "" ? "" : `/** ${text} */\n`);

function about(schema: Schema): string {
  const target = targetOf(schema);
  const [said] = [schema, ...(schema.anyOf ?? [])]
    .map((each) => each.description ?? (isScalar(targetOf(each)) ? targetOf(each).description : undefined))
    .filter((each) => each !== undefined);
  const byDefault = target.default === undefined ? [] : [`Default ${JSON.stringify(target.default)}.`];
  return comment([...(said === undefined ? [] : [said]), ...byDefault].join(" "));
}

/** Finds by the way which components are named. */
function typeText(schema: Schema, named: (component: string) => void): string {
  const text = (each: Schema): string => typeText(each, named);
  if (schema.$ref !== undefined) {
    const component = componentIn(schema);
    if (isScalar(targetOf(schema))) return text(targetOf(schema));
    const item = targetOf(schema).properties?.hasMore && targetOf(schema).properties?.data?.items;
    if (item !== undefined) return `Page<${text(item)}>`;
    named(component);
    return nameOf(component);
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return options.map(text).join(" | ");
  if (schema.type === "array") return `readonly (${text(schema.items ?? {})})[]`;
  if (schema.type === "object") return objectText(schema, named);
  if (schema.type === "string" && schema.pattern?.startsWith("^0x") === true) return `\`0x\${string}\``;
  return [schema.type ?? "unknown"].flat().join(" | ").replace("integer", "number");
}

function objectText(
  { properties, required = [], additionalProperties: others }: Schema,
  named: (component: string) => void,
): string {
  if (properties === undefined) return `Readonly<Record<string, ${typeText(others || {}, named)}>>`;
  const fields = Object.entries(properties).map(
    ([name, field]) =>
      `${about(field)}readonly ${name}${required.includes(name) ? "" : "?"}: ${typeText(field, named)};\n`,
  );
  const rest = others ? [`readonly [name: string]: ${typeText(others, named)};\n`] : [];
  return `{\n${[...fields, ...rest].join("")}}`;
}

const declaration = (name: string, schema: Schema, text: string): string =>
  comment(schema.description ?? "") +
  (schema.properties === undefined
    ? `export type ${name} = ${text};\n`
    : `export interface ${name} ${text}\n`);

function filterText({ operation, query }: Endpoint): string {
  const [name = "", said = ""] = FILTERS[operation] ?? [];
  const fields = Object.entries(query).map(
    ([field, { description, schema }]) =>
      // The client says every name in one way.
      `${comment(description)}readonly ${field === "token_id" ? "tokenId" : field}?: ${typeText(schema, () => {})};\n`,
  );
  // A type and no interface: what it holds can be handed on as a record of parameters.
  return `${comment(said)}export type ${name} = {\n${fields.join("")}};\n`;
}

/** The declarations of schemas and of all that they mention, by their components, without those that are `known`. */
function declarationsOf(roots: Iterable<string>, known: ReadonlySet<string>) {
  const waiting = [...roots].filter((root) => !known.has(root));
  const declared = new Map<string, string>();
  const others = new Set<string>();
  for (let component = waiting.shift(); component !== undefined; component = waiting.shift()) {
    if (known.has(component)) others.add(component);
    if (known.has(component) || declared.has(component)) continue;
    const schema = schemas[component] as Schema;
    const text = typeText(schema, (name) => waiting.push(name));
    declared.set(component, declaration(nameOf(component), schema, text));
  }
  // By name: in what order schemas are registered depends on what a process loads first.
  const inOrder = Object.keys(schemas)
    .sort()
    .flatMap((component) => declared.get(component) ?? []);
  return {
    text: inOrder.join("\n"),
    names: new Set(declared.keys()),
    others: [...others].map(nameOf).sort(),
  };
}

const idOf = (schema: Endpoint["reply"]): string => registry.get(schema)?.id ?? "";

function repliesOf(endpoints: readonly Endpoint[]): string[] {
  const named: string[] = [];
  for (const { reply } of endpoints) typeText({ $ref: idOf(reply) }, (name) => named.push(name));
  return named;
}

const bodiesOf = (endpoints: readonly Endpoint[]): string[] =>
  endpoints.flatMap(({ body }) => (body === null || isRaw(body) ? [] : [idOf(body.schema)]));

/**
 * The messages of the API as plain TypeScript, not laid out. Of the imitated service: each body and reply with all that
 * they mention, the filters of lists, and the codes of errors. Of what the simulation adds: the same. Then what each
 * operation answers.
 */
export function messagesText(): Readonly<Record<"service" | "control" | "reply", string>> {
  const endpoints: readonly Endpoint[] = ENDPOINTS;
  const imitated = endpoints.filter(({ path }) => /^\/(?:api|clob)\//.test(path));
  const added = endpoints.filter((endpoint) => !imitated.includes(endpoint));
  const service = declarationsOf([...repliesOf(imitated), ...bodiesOf(imitated)], new Set());
  const control = declarationsOf([...repliesOf(added), ...bodiesOf(added)], service.names);
  const answered = new Set<string>();
  const replies = endpoints.map(
    ({ operation, reply }) =>
      `readonly ${operation}: ${typeText({ $ref: idOf(reply) }, (name) => answered.add(name))};\n`,
  );
  const answeredBy = (messages: ReadonlySet<string>): string =>
    [...answered]
      .filter((name) => messages.has(name))
      .map(nameOf)
      .sort()
      .join(", ");
  const filters = endpoints.filter(({ operation }) => operation in FILTERS).map(filterText);
  const codes = ERROR_CODES.map((code) => JSON.stringify(code)).join(" | ");
  return {
    service: [
      HEAD,
      PAGES,
      service.text,
      ...filters,
      "/** Why the server refuses; docs/reference/errors.md says what each means. */",
      `export type ErrorCode = ${codes};`,
    ].join("\n"),
    control: [
      HEAD,
      `import type { ${control.others.join(", ")} } from "./service-messages.ts";`,
      control.text,
    ].join("\n"),
    reply: [
      HEAD,
      `import type { ${answeredBy(control.names)} } from "./control-messages.ts";`,
      `import type { Page, ${answeredBy(service.names)} } from "./service-messages.ts";`,
      "/** What each operation answers, by its name in the OpenAPI document. */",
      `export interface Replies {\n${replies.join("")}}`,
    ].join("\n"),
  };
}
