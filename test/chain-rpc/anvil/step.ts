import { setTimeout } from "node:timers/promises";
import { rpc } from "../rpc.ts";

/** The answers of a server to the steps so far. */
export interface Answers {
  /** Returns the result of the call with a title. @throws Error if it has none. */
  readonly result: (title: string) => unknown;
}

/** One request of a script, which may use earlier answers. */
export interface Step {
  readonly title: string;
  /** Returns the request body. */
  readonly body: (answers: Answers) => string;
  /** Result for which the request is repeated, because anvil mines after it has answered. */
  readonly awaited?: unknown;
}

type Params = readonly unknown[] | ((answers: Answers) => readonly unknown[]);

/** Builds a step of one call. Its parameters may come from answers. */
export const call = (title: string, method: string, params: Params = []): Step => ({
  title,
  body: (answers) => JSON.stringify(rpc(method, typeof params === "function" ? params(answers) : params)),
});

/** Builds a call about the result of an earlier one. */
export const ofResult = (title: string, method: string, earlier: string): Step =>
  call(title, method, ({ result }) => [result(earlier)]);

/** Builds a call that sends a signed transaction. */
export const sendRaw = async (title: string, raw: Promise<string> | string): Promise<Step> =>
  call(title, "eth_sendRawTransaction", [await raw]);

/** Returns the time a number of seconds after the first block, Unix seconds. */
export function secondAfter({ result }: Answers, seconds: number): number {
  const { timestamp } = result("the first block") as { readonly timestamp: string };
  return Number(timestamp) + seconds;
}

export const hex = (number: number | bigint): string => `0x${number.toString(16)}`;

/** Builds a call with a time in seconds after the first block, because anvil's own clock runs. */
export const atSecond = (
  title: string,
  method: string,
  seconds: number,
  written: (second: number) => unknown = Number,
): Step => call(title, method, (answers) => [written(secondAfter(answers, seconds))]);

/** Sets the time of the next block. */
export const nextBlockAt = (seconds: number): Step =>
  atSecond(`the next block at second ${seconds}`, "evm_setNextBlockTimestamp", seconds);

/** Mines a block at a time. */
export const mineAt = (seconds: number): Step =>
  atSecond(`a block at second ${seconds}`, "evm_mine", seconds);

/** Builds a step of any body; an object is sent as JSON. */
export const text = (title: string, body: string | object): Step => ({
  title,
  body: () => (typeof body === "string" ? body : JSON.stringify(body)),
});

/** The reply to a step; the body is parsed if it is JSON. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Sends the steps one after the other and returns the replies by title. */
export async function play(url: string, steps: readonly Step[]): Promise<Map<string, Reply>> {
  const replies = new Map<string, Reply>();
  const answers: Answers = {
    result: (title) => {
      const body = replies.get(title)?.body as { readonly result?: unknown } | undefined;
      if (body?.result === undefined) throw new Error(`"${title}" has no result: ${JSON.stringify(body)}`);
      return body.result;
    },
  };
  for (const step of steps) {
    if (replies.has(step.title)) throw new Error(`two steps are called "${step.title}"`);
    const body = step.body(answers);
    let reply = await replyTo(url, body);
    for (let tries = 0; tries < TRIES && !isAwaited(step, reply); tries += 1) {
      await setTimeout(TRY_MS);
      reply = await replyTo(url, body);
    }
    replies.set(step.title, reply);
  }
  return replies;
}

const TRIES = 200;
const TRY_MS = 25;

async function replyTo(url: string, body: string): Promise<Reply> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  return { status: response.status, body: jsonOrText(await response.text()) };
}

const isAwaited = ({ awaited }: Step, { body }: Reply): boolean =>
  awaited === undefined || (body as { readonly result?: unknown }).result === awaited;

function jsonOrText(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return received;
  }
}
