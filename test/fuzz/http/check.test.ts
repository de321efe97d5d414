import { beforeAll, describe, expect, it } from "vitest";
import type { Operation } from "../../../src/api/endpoints.ts";
import { check } from "../../../src/fuzz/http/check.ts";
import { logText, type Observation, type ObservationLog } from "../../../src/fuzz/http/observation.ts";
import { changed, type Observed, observedSession } from "./observed.ts";
import { readLog } from "./read-log.ts";

let observed: Observed;
beforeAll(async () => {
  observed = await observedSession();
});

/** The requests to an endpoint, in the order in which they were sent. */
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

/** What the checker has against a log; null for nothing. */
const verdict = async (log: ObservationLog): Promise<string | null> =>
  (await check(observed.journal, log))?.fingerprint ?? null;

/** The log with another answer to one request. */
const answering = (of: Observation, answer: Partial<ReturnType<typeof answerOf>>): ObservationLog =>
  changed(observed.log, of, (each) => ({ ...each, answer: { ...answerOf(each), ...answer } }));

/** The log with one more request, sent and answered behind all others. */
function withOneMore(added: Observation): ObservationLog {
  const last = Math.max(...observed.log.observations.map(({ answered }) => answered ?? 0));
  const { observations } = observed.log;
  return {
    ...observed.log,
    observations: [...observations, { ...added, sent: last + 1, answered: last + 2 }],
  };
}

describe("what clients saw of one history", () => {
  it("is right as it was seen, and as a file", async () => {
    expect(await verdict(observed.log)).toBeNull();
    expect(await verdict(readLog(logText(observed.log)))).toBeNull();
  });

  it("may miss an answer only where something is there to lose it", async () => {
    const lost = changed(observed.log, at("placeOrder", 0), (each) => ({
      ...each,
      answered: null,
      answer: null,
    }));
    expect(await verdict(lost)).toBe("http: no answer: placeOrder");
    expect(await verdict({ ...lost, mayLose: ["kill"] })).toBeNull();
  });

  it("is the same though requests without an answer were not carried out", async () => {
    const never = { ...at("placeOrder", 0), answer: null };
    const log = withOneMore(never);
    const observations = log.observations.map((each) =>
      each.answer === null ? { ...each, answered: null } : each,
    );
    expect(await verdict({ ...log, mayLose: ["faults"], observations })).toBeNull();
  });
});

describe("the checker finds", () => {
  it("a stale read: an answer older than one that had come before it was asked for", async () => {
    const [first, late] = [answerOf(at("getBook", 0)), at("getBook", -1)];
    expect(await verdict(answering(late, { ...first, time: answerOf(late).time }))).toBe(
      "http: older sequence against real time: getBook",
    );
  });

  it("a stale read that says it is not: the body of an earlier book", async () => {
    expect(await verdict(answering(at("getBook", 1), { body: answerOf(at("getBook", 0)).body }))).toBe(
      "http: another answer: getBook 200: bids",
    );
  });

  it("an answer from the future: it shows an order that was not sent yet", async () => {
    const [order, seen] = [at("placeOrder", 0), at("getBook", 1)];
    const log = changed(observed.log, seen, (each) => ({
      ...each,
      sent: order.sent - 0.5,
      answered: order.sent - 0.25,
    }));
    expect(await verdict(log)).toBe("http: seen before it was asked for: placeOrder");
  });

  it("an answer that the journal does not reach", async () => {
    expect(await verdict(answering(at("getStateHash", -1), { sequence: 1_000 }))).toBe(
      "http: beyond the journal: getStateHash",
    );
  });

  it("an acknowledged order that is not in the journal", async () => {
    const hash = answerOf(at("getStateHash", -1));
    const order = at("placeOrder", 0);
    expect(
      await verdict(
        withOneMore({ ...order, answer: { ...answerOf(order), ...hash, body: answerOf(order).body } }),
      ),
    ).toBe("http: seen before it was asked for: cancelAllOrders");
  });

  it("an acknowledged order whose place in the journal is another one's", async () => {
    const [first, second] = [at("placeOrder", 0), at("placeOrder", 2)];
    const log = changed(observed.log, second, (each) => ({ ...each, request: first.request }));
    expect(await verdict(log)).toBe("http: acknowledged and lost: placeOrder");
  });

  it("an order that was carried out twice, and one that nobody asked for", async () => {
    expect(await verdict(changed(observed.log, at("placeOrder", 1), () => null))).toBe(
      "http: carried out twice: placeOrder",
    );
    expect(await verdict(changed(observed.log, at("placeOrder", 2), () => null))).toBe(
      "http: nobody asked: placeOrder",
    );
  });

  it("a wrong refusal: of what is accepted there, or for another reason", async () => {
    const refused = at("placeOrder", 3);
    const { request } = at("placeOrder", 2);
    expect(await verdict(changed(observed.log, refused, (each) => ({ ...each, request })))).toBe(
      "http: another status: placeOrder 400 SIZE_TOO_SMALL, again 200",
    );
    const { body } = answerOf(refused);
    expect(await verdict(answering(refused, { body: body.replace("SIZE_TOO_SMALL", "INVALID_SIZE") }))).toBe(
      "http: another status: placeOrder 400 INVALID_SIZE, again 400 SIZE_TOO_SMALL",
    );
  });

  it("answers of one connection in another order than their requests", async () => {
    const [first, second] = [at("getBook", 0), at("getBook", 1)];
    const [early, late] = [answerOf(first), answerOf(second)];
    const together = { sent: first.sent, answered: (second.answered ?? 0) + 0.5 };
    const swapped = changed(answering(first, { ...late, body: late.body }), second, (each) => ({
      ...each,
      ...together,
      answer: early,
    }));
    expect(await verdict(swapped)).toBe("http: older sequence against order of connection: getBook");
  });

  it("an accepted cancel that is answered with another time than its own", async () => {
    const cancel = at("cancelAllOrders", -1);
    const [book, hash] = [at("getBook", -1), at("getStateHash", -1)];
    const observations = observed.log.observations.map((each) =>
      each === cancel || each === book || each === hash
        ? { ...each, answer: { ...answerOf(each), time: answerOf(each).time + 1 } }
        : each,
    );
    expect(await verdict({ ...observed.log, observations })).toBe("http: another place: cancelAllOrders");
  });

  it("a clock that was moved elsewhere, and a time that nobody set", async () => {
    const change = at("setClock", 0);
    const body = change.request.body.replace("5s", "6s");
    expect(
      await verdict(
        changed(observed.log, change, (each) => ({ ...each, request: { ...each.request, body } })),
      ),
    ).toBe("http: clock elsewhere");
    expect(
      await verdict(answering(at("getStateHash", -1), { time: answerOf(at("getStateHash", -1)).time + 1 })),
    ).toBe("http: impossible time: getStateHash");
  });

  it("another state at the end", async () => {
    expect(await verdict({ ...observed.log, finalHash: "v2:0" })).toBe("http: another state at the end");
  });
});
