import { beforeAll, describe, expect, it } from "vitest";
import type { Operation } from "../../../src/api/endpoints.ts";
import { check } from "../../../src/fuzz/http/check.ts";
import { logText, type Observation, type ObservationLog } from "../../../src/fuzz/http/observation.ts";
import { changed, type ObservedSession, observedSession, readLog } from "./observed.ts";

let observed: ObservedSession;
beforeAll(async () => {
  observed = await observedSession();
});

/** Returns the requests to an endpoint, in the order in which they were sent. */
const requests = (operation: Operation): Observation[] =>
  observed.log.observations.filter(({ request }) => request.operation === operation);

const at = (operation: Operation, index: number): Observation => {
  const observation = requests(operation).at(index);
  if (observation === undefined) throw new Error(`no ${operation} ${index}`);
  return observation;
};

const answerOf = ({ answer }: Observation) => {
  if (answer === null) throw new Error("no answer");
  return answer;
};

/** Returns the fingerprint of what the checker finds in a log; null for nothing. */
const verdict = async (log: ObservationLog): Promise<string | null> =>
  (await check(observed.journal, log))?.fingerprint ?? null;

/** Returns the log with other facts of one request. */
const observing = (of: Observation, facts: Partial<Observation>): ObservationLog =>
  changed(observed.log, of, (each) => ({ ...each, ...facts }));

/** Returns the log with another answer to one request. */
const answering = (of: Observation, answer: Partial<ReturnType<typeof answerOf>>): ObservationLog =>
  observing(of, { answer: { ...answerOf(of), ...answer } });

/** Returns the log with one more request, sent and answered after all others. */
function withOneMore(added: Observation): ObservationLog {
  const last = Math.max(...observed.log.observations.map(({ answered }) => answered ?? 0));
  const { observations } = observed.log;
  return {
    ...observed.log,
    observations: [...observations, { ...added, sent: last + 1, answered: last + 2 }],
  };
}

describe("the observations of one history", () => {
  it("pass as recorded, and when read from a file", async () => {
    expect(await verdict(observed.log)).toBeNull();
    expect(await verdict(readLog(logText(observed.log)))).toBeNull();
  });

  it("may lack an answer only if the log says why", async () => {
    const lost = observing(at("placeOrder", 0), { answered: null, answer: null });
    expect(await verdict(lost)).toBe("http: no answer: placeOrder");
    expect(await verdict({ ...lost, mayLose: ["kill"] })).toBeNull();
  });

  it("pass if a request without an answer was not executed", async () => {
    const never = { ...at("placeOrder", 0), answer: null };
    const log = withOneMore(never);
    const observations = log.observations.map((each) =>
      each.answer === null ? { ...each, answered: null } : each,
    );
    expect(await verdict({ ...log, mayLose: ["faults"], observations })).toBeNull();
  });
});

describe("the checker finds", () => {
  it("a stale read: an answer older than one received before its request was sent", async () => {
    const [first, late] = [answerOf(at("getBook", 0)), at("getBook", -1)];
    expect(await verdict(answering(late, { ...first, time: answerOf(late).time }))).toBe(
      "http: older sequence against real time: getBook",
    );
  });

  it("a stale read with a current sequence: the body of an earlier book", async () => {
    expect(await verdict(answering(at("getBook", 1), { body: answerOf(at("getBook", 0)).body }))).toBe(
      "http: another answer: getBook 200: bids",
    );
  });

  it("an answer that shows an order before the order was sent", async () => {
    const [order, seen] = [at("placeOrder", 0), at("getBook", 1)];
    const log = observing(seen, { sent: order.sent - 0.5, answered: order.sent - 0.25 });
    expect(await verdict(log)).toBe("http: seen before its request: placeOrder");
  });

  it("an answer with a sequence after the end of the journal", async () => {
    expect(await verdict(answering(at("getStateHash", -1), { sequence: 1_000 }))).toBe(
      "http: beyond the journal: getStateHash",
    );
  });

  it("an acknowledged order that is missing in the journal", async () => {
    const order = at("placeOrder", 0);
    const answer = { ...answerOf(at("getStateHash", -1)), body: answerOf(order).body };
    const verdictOfOne = await verdict(withOneMore({ ...order, answer }));
    expect(verdictOfOne).toBe("http: seen before its request: cancelAllOrders");
  });

  it("an acknowledged order whose sequence in the journal belongs to another one", async () => {
    const [first, second] = [at("placeOrder", 0), at("placeOrder", 2)];
    const log = observing(second, { request: first.request });
    expect(await verdict(log)).toBe("http: acknowledged and lost: placeOrder");
  });

  it("an order that was executed twice, and one without a request", async () => {
    expect(await verdict(changed(observed.log, at("placeOrder", 1), () => null))).toBe(
      "http: executed twice: placeOrder",
    );
    expect(await verdict(changed(observed.log, at("placeOrder", 2), () => null))).toBe(
      "http: without a request: placeOrder",
    );
  });

  it("a wrong refusal: of a valid order, or for another reason", async () => {
    const refused = at("placeOrder", 3);
    const { request } = at("placeOrder", 2);
    expect(await verdict(observing(refused, { request }))).toBe(
      "http: another status: placeOrder 400 SIZE_TOO_SMALL, replayed 200",
    );
    const { body } = answerOf(refused);
    expect(await verdict(answering(refused, { body: body.replace("SIZE_TOO_SMALL", "INVALID_SIZE") }))).toBe(
      "http: another status: placeOrder 400 INVALID_SIZE, replayed 400 SIZE_TOO_SMALL",
    );
  });

  it("answers of one connection in another order than the requests", async () => {
    const [first, second] = [at("getBook", 0), at("getBook", 1)];
    const [early, late] = [answerOf(first), answerOf(second)];
    const together = { sent: first.sent, answered: (second.answered ?? 0) + 0.5 };
    const facts = { ...together, answer: early };
    const swapped = changed(answering(first, late), second, (each) => ({ ...each, ...facts }));
    expect(await verdict(swapped)).toBe("http: older sequence against order of connection: getBook");
  });

  it("an accepted cancel with a wrong time in its answer", async () => {
    const cancel = at("cancelAllOrders", -1);
    const [book, hash] = [at("getBook", -1), at("getStateHash", -1)];
    const observations = observed.log.observations.map((each) =>
      each === cancel || each === book || each === hash
        ? { ...each, answer: { ...answerOf(each), time: answerOf(each).time + 1 } }
        : each,
    );
    expect(await verdict({ ...observed.log, observations })).toBe(
      "http: another sequence or time: cancelAllOrders",
    );
  });

  it("a clock change to a wrong time, and an answer with a time that was never set", async () => {
    const change = at("setClock", 0);
    const body = change.request.body.replace("5s", "6s");
    const wrong = observing(change, { request: { ...change.request, body } });
    expect(await verdict(wrong)).toBe("http: wrong clock time");
    const last = at("getStateHash", -1);
    const never = answering(last, { time: answerOf(last).time + 1 });
    expect(await verdict(never)).toBe("http: impossible time: getStateHash");
  });

  it("another state hash at the end", async () => {
    expect(await verdict({ ...observed.log, finalHash: "v2:0" })).toBe("http: another state at the end");
  });
});
