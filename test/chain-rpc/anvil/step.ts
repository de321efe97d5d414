import { setTimeout } from "node:timers/promises";

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
