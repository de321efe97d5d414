import { expect } from "vitest";
import type { Answer } from "../chain-rpc/rpc.ts";
import { Shell } from "../cli/shell.ts";
import { type Api, type Reply, type Route, requestOf } from "../support/http.ts";
import { HOST, JSON_BODY, refusalIn, repliesTo, replyTo, requestBytes } from "./raw-socket.ts";
import type { PlacedOrder, Refusal } from "./replies.ts";
import { Trader } from "./trader.ts";
import { wallet } from "./wallet.ts";

/** Wallets that sign requests on pages, by their names there. */
const WALLETS = { alice: 1, bob: 2 } as const;

/** Headers that a page shows if they are there. */
const SHOWN_HEADERS = [
  ...["x-sim-warning", "x-sim-fault", "retry-after", "allow", "www-authenticate"],
  "access-control-allow-origin",
];

/** An order of a wallet: `alice BUY 10 RAIN.yes @ 0.5`, with a type if it is not GTC. */
const ORDER = /^([a-z]+) (BUY|SELL) (\S+) (\S+) @ (\S+)(?: (\w+))?$/;

/** Returns the request of an order. */
const written = (line: string): string =>
  line.replace(ORDER, (_, name, side, size, tokenId, price, orderType) => {
    const type = orderType === undefined ? "" : `,"orderType":"${orderType}"`;
    return `${name} POST /clob/order {"tokenId":"${tokenId}","side":"${side}","price":${price},"size":${size}${type}}`;
  });

/**
 * Compares a page of requests with the replies after `> `: a refusal as status, code, error, hint and details, then headers. A
 * request is signed if it follows the name of a wallet. Of an order such as `alice BUY 10 RAIN.yes @ 0.5` only the status is shown,
 * and nothing if it is LIVE. The ids in the reply to a request after `named RAIN` are RAIN.id, RAIN.yes and so on from then on,
 * RAIN.ID in upper case.
 */
export async function expectPage(api: Api, path: string): Promise<void> {
  const traders = new Map<string, Trader>();
  const send = async (line: string): Promise<Reply<unknown>> => {
    const [, name, route = "", body] = /^(?:([a-z]+) )?([A-Z]+ \S+)(?: (.*))?$/.exec(written(line)) ?? [];
    const request = requestOf(route as Route, body);
    if (name === undefined) return api.ask(request);
    const trader = traders.get(name) ?? expect.fail(`derive ${name} is not before ${line}`);
    return api.ask(trader.signed(request.method, request.path, body));
  };
  const sendShown = async (line: string, reply?: Reply<unknown>): Promise<string | undefined> => {
    const { status, body, ...rest } = reply ?? (await send(line));
    if (status >= 400 || !ORDER.test(line)) return shown({ status, body, ...rest });
    const placed = body as PlacedOrder;
    return placed.status === "LIVE" ? undefined : placed.status;
  };
  const sendNamed = async (name: string, line: string) => {
    const reply = await send(line);
    expect(reply.status, reply.text).toBe(200);
    for (const [key, id] of idsIn(reply.body as object)) shell.names.set(`${name}.${key}`, id);
    return reply;
  };
  const senders = ["GET", "POST", "PUT", "DELETE", ...Object.keys(WALLETS)];
  const verbs = {
    ...Object.fromEntries(
      senders.map((first) => [first, async (...words: string[]) => sendShown([first, ...words].join(" "))]),
    ),
    /** Sends a request line and headers as they stand, joined by `; `. By default the host is this machine. */
    raw: async (...words: string[]) => {
      const [line = "", ...headers] = Buffer.from(words.join(" ")).toString("latin1").split("; ");
      const bytes = requestBytes(line, headers.length === 0 ? [HOST] : headers);
      const before = await api.stateHash();
      const reply = await replyTo(api.port, bytes);
      expect(await api.stateHash()).toBe(before);
      const body = reply.status < 400 ? {} : refusalIn(reply);
      const named = Object.fromEntries([...reply.headers].map(([name, values]) => [name, values.join()]));
      return shown({ ...reply, headers: named, body });
    },
    advance: async (duration = "") => void (await api.advance(duration)),
    /** Sends a POST many times over one connection, and shows the distinct statuses: `many 1000 /sim/snapshots {}`. */
    many: async (count = "", path = "", body = "") => {
      const bytes = requestBytes(`POST ${path}`, [HOST, JSON_BODY], body, "keep-alive").toString();
      const replies = await repliesTo(api.port, bytes.repeat(Number(count)), { replies: Number(count) });
      return [...new Set(replies.map(({ status }) => status))].join();
    },
    reset: async () => void (await api.post("/sim/reset")),
    rpc: async (method = "", ...params: string[]) => {
      const call = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${params.join(",")}]}`;
      const { result, error } = (await send(`POST /chain ${call}`)).body as Answer;
      return error === undefined
        ? JSON.stringify(result)
        : [error.code, error.message, error.data && JSON.stringify(error.data)].join(" ").trimEnd();
    },
    derive: async (name = "") => {
      const account = wallet(WALLETS[name as keyof typeof WALLETS]);
      traders.set(name, await new Trader(api, account.address).derive(account));
      shell.names.set(`${name}.address`, account.address);
      return undefined;
    },
    named: async (name = "", ...words: string[]) => {
      const line = words.join(" ");
      return sendShown(line, await sendNamed(name, line));
    },
    /** Creates a market, and names it. */
    market: async (name = "", ...words: string[]) =>
      void (await sendNamed(name, `POST /sim/markets ${words.join(" ")}`)),
    /** Alice sells to bob: `trade 10 RAIN.yes @ 0.5`. */
    trade: async (...words: string[]) => {
      await send(`alice SELL ${words.join(" ")}`);
      const { body } = await send(`bob BUY ${words.join(" ")}`);
      expect(body).toMatchObject({ status: "MATCHED" });
      return undefined;
    },
    fault: async (...words: string[]) => {
      const { status, text } = await send(`POST /sim/faults ${words.join(" ")}`);
      return status === 200 ? undefined : text;
    },
  };
  const shell: Shell = new Shell({ path, read: () => "" }, verbs);
  await shell.expectPage(path);
}

/** Returns a reply: a refusal in a line as status, code, error, hint, details and headers, else the body and a line of headers. */
function shown({ status, text, body, headers }: Reply<unknown>): string {
  const { code, error, hint, details } = body as Refusal;
  const named = SHOWN_HEADERS.flatMap((name) =>
    headers[name] === undefined ? [] : `${name}: ${headers[name]}`,
  );
  if (status < 400) return [text || `${status}`, named.join("; ")].join("\n").trimEnd();
  const refusal = [`${status} ${code} ${error}`, hint, details && JSON.stringify(details)];
  return [...refusal.filter((part) => part !== undefined), ...named].join("; ");
}

/** Returns the ids in a reply, by the ends of their names. */
function idsIn(body: object): (readonly [key: string, id: string])[] {
  const { id, eventId, conditionId, tokens } = body as Readonly<Record<string, string>> & {
    readonly tokens?: readonly { readonly tokenId: string }[];
  };
  const [yes, no] = tokens?.map(({ tokenId }) => tokenId) ?? [];
  const inUpperCase = { ID: id?.toUpperCase(), EVENT: eventId?.toUpperCase() };
  return Object.entries({ id, event: eventId, condition: conditionId, yes, no, ...inUpperCase }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}
