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

/** Requires that the checker finds a contradiction in a log. */
async function finds(fingerprint: string, log: ObservationLog): Promise<void> {
  expect(await verdict(log)).toBe(`http: ${fingerprint}`);
}

describe("the checker finds", () => {
  it("a stale read: an answer older than one received before its request was sent", () => {
    const { sequence } = answerOf(at("getBook", 0));
    return finds("older sequence against real time: getBook", answering(at("getBook", -1), { sequence }));
  });

  it("a stale read with a current sequence: the body of an earlier book", () => {
    const { body } = answerOf(at("getBook", 0));
    return finds("another answer: getBook 200: bids", answering(at("getBook", 1), { body }));
  });

  it("an answer that shows an order before the order was sent", () => {
    const { sent } = at("placeOrder", 0);
    const log = observing(at("getBook", 1), { sent: sent - 0.5, answered: sent - 0.25 });
    return finds("seen before its request: placeOrder", log);
  });

  it("an answer with a sequence after the end of the journal", () =>
    finds("beyond the journal: getStateHash", answering(at("getStateHash", -1), { sequence: 1_000 })));

  it("an acknowledged order that is missing in the journal", () => {
    const order = at("placeOrder", 0);
    const answer = { ...answerOf(at("getStateHash", -1)), body: answerOf(order).body };
    return finds("seen before its request: cancelAllOrders", withOneMore({ ...order, answer }));
  });

  it("an acknowledged order whose sequence in the journal belongs to another one", () => {
    const { request } = at("placeOrder", 0);
    return finds("acknowledged and lost: placeOrder", observing(at("placeOrder", 2), { request }));
  });

  it.each([
    ["an order that was executed twice", "executed twice: placeOrder", 1],
    ["an order without a request", "without a request: placeOrder", 2],
  ])("%s", (_what, fingerprint, order) =>
    finds(
      fingerprint,
      changed(observed.log, at("placeOrder", order), () => null),
    ),
  );

  it("a wrong refusal: of a valid order, or for another reason", async () => {
    const refused = at("placeOrder", 3);
    const { request } = at("placeOrder", 2);
    const found = "another status: placeOrder 400";
    await finds(`${found} SIZE_TOO_SMALL, replayed 200`, observing(refused, { request }));
    const body = answerOf(refused).body.replace("SIZE_TOO_SMALL", "INVALID_SIZE");
    await finds(`${found} INVALID_SIZE, replayed 400 SIZE_TOO_SMALL`, answering(refused, { body }));
  });

  it("answers of one connection in another order than the requests", () => {
    const [first, second] = [at("getBook", 0), at("getBook", 1)];
    const facts = { sent: first.sent, answered: (second.answered ?? 0) + 0.5, answer: answerOf(first) };
    const swapped = changed(answering(first, answerOf(second)), second, (each) => ({ ...each, ...facts }));
    return finds("older sequence against order of connection: getBook", swapped);
  });

  it("an accepted cancel with a wrong time in its answer", () => {
    const last = [at("cancelAllOrders", -1), at("getBook", -1), at("getStateHash", -1)];
    const observations = observed.log.observations.map((each) =>
      last.includes(each) ? { ...each, answer: { ...answerOf(each), time: answerOf(each).time + 1 } } : each,
    );
    return finds("another sequence or time: cancelAllOrders", { ...observed.log, observations });
  });

  it("a clock change to a wrong time, and an answer with a time that was never set", async () => {
    const { request } = at("setClock", 0);
    const wrong = { ...request, body: request.body.replace("5s", "6s") };
    await finds("wrong clock time", observing(at("setClock", 0), { request: wrong }));
    const last = at("getStateHash", -1);
    await finds("impossible time: getStateHash", answering(last, { time: answerOf(last).time + 1 }));
  });

  it("another state hash at the end", () =>
    finds("another state at the end", { ...observed.log, finalHash: "v2:0" }));
});
