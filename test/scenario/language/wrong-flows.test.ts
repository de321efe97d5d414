import { describe, expect, it } from "vitest";
import { BID, ofSteps, ofTwoMarkets, problemsOf } from "./scenario-texts.ts";

describe("steps that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    ["replay a file that is not there", ofSteps("replay: flow.csv"), "4:13: there is no file flow.csv"],
    ["replay a number", ofSteps("replay: 5"), "4:13: there is no file 5"],
    ["replay without a file", ofSteps("replay: { rejected: 1 }"), "4:13: expected the key file, found none"],
    [
      "replay with an unknown key",
      ofSteps("replay: { fil: a.csv }"),
      "4:13: expected the key file, found none",
      '4:15: unknown key "fil" (did you mean file?)',
    ],
    [
      "replay from elsewhere",
      ofSteps("replay: /etc/passwd"),
      "4:13: expected a relative path, found an absolute one (paths are relative to the file that names them and stay in the scenario's folder)",
    ],
    [
      "replay from above",
      ofSteps("replay: ../flow.csv"),
      "4:13: expected a path in the scenario's folder, found one out of it (paths are relative to the file that names them and stay in the scenario's folder)",
    ],
    [
      "replay from the web",
      ofSteps("replay: https://example.org/flow.csv"),
      "4:13: expected a relative path, found a URL or a drive (paths are relative to the file that names them and stay in the scenario's folder)",
    ],
    [
      "generate without a number",
      ofSteps("generate: { accounts: 5 }"),
      "4:15: expected the key orders, found none",
    ],
    [
      "generate too much",
      ofSteps("generate: { orders: 10000001 }"),
      '4:25: expected a number of orders from 1 to 10000000, found "10000001"',
    ],
    [
      "generate a fraction",
      ofSteps("generate: { orders: 1.5 }"),
      '4:25: expected a number of orders from 1 to 10000000, found "1.5"',
    ],
    [
      "generate for nobody",
      ofSteps("generate: { orders: 1, accounts: 0 }"),
      '4:38: expected a number of accounts from 1 to 10000, found "0"',
    ],
    [
      "generate an unknown profile",
      ofSteps("generate: { orders: 1, profile: ballanced }"),
      '4:37: expected balanced, trending, one-sided, cancel-heavy or bursts, found "ballanced" (did you mean balanced?)',
    ],
    [
      "generate nowhere where there are several",
      ofTwoMarkets("generate: { orders: 1 }"),
      "5:15: expected the market to be named, for there are rain, snow",
    ],
    [
      "fault with an unknown key",
      ofSteps("fault: { rout: POST /order, status: 503 }"),
      '4:14: unknown key "rout" (did you mean route?)',
    ],
    [
      "fault with an unknown status",
      ofSteps("fault: { status: 404 }"),
      '4:22: expected 429, 500, 502, 503 or 504, found "404"',
    ],
    [
      "fault with nothing",
      ofSteps("fault: { route: POST /order }"),
      "4:12: expected a fault with status, latency or drop, found none of them",
    ],
    [
      "fault with too much",
      ofSteps("fault: { status: 503, drop: reply }"),
      "4:27: a dropped request has no status: give one of them",
    ],
    [
      "fault with a chance above one",
      ofSteps("fault: { status: 503, probability: 1.5 }"),
      '4:40: expected a probability from 0 to 1 with at most 6 decimals, found "1.5"',
    ],
    [
      "fault with a bad latency",
      ofSteps("fault: { latency: 200 }"),
      '4:23: expected a duration such as 30s or 1h30m, found "200" (did you mean 200s?)',
    ],
    [
      "fault never",
      ofSteps("fault: { status: 503, times: 0 }"),
      '4:34: expected a number of times from 1 to 1000000000, found "0"',
    ],
    [
      "fault by an unknown drop",
      ofSteps("fault: { drop: replies }"),
      '4:20: expected connection or reply, found "replies"',
    ],
    [
      "keep without a name",
      ofSteps("snapshot:"),
      "4:14: expected a name: a letter, then letters, digits, _ and -, at most 64, found nothing",
    ],
    [
      "keep twice under one name",
      ofSteps("snapshot: before", "snapshot: before"),
      "5:15: a snapshot before is named before already",
    ],
    [
      "restore what was not kept",
      ofSteps("snapshot: before", "restore: befor"),
      '5:14: unknown snapshot "befor" (did you mean before?)',
    ],
    ["race with one step", ofSteps("race: [{ advance: 1s }]"), "4:11: expected 2 to 6 steps, found 1"],
    [
      "race with seven steps",
      ofSteps(`race: [${"{ advance: 1s }, ".repeat(7)}]`),
      "4:11: expected 2 to 6 steps, found 7",
    ],
    [
      "race in a race",
      ofSteps("race: [{ race: [{ advance: 1s }, { advance: 2s }] }, { advance: 1s }]"),
      "4:14: race cannot stand in a race",
    ],
    [
      "restore in a race",
      ofSteps("snapshot: s", "race: [{ restore: s }, { advance: 1s }]"),
      "5:14: restore cannot stand in a race",
    ],
    [
      "include in a race",
      ofSteps("race: [{ include: a.yaml }, { advance: 1s }]"),
      "4:14: include cannot stand in a race",
    ],
    [
      "race in more orders than can be run",
      ofSteps(`race: [${"{ advance: 1s }, ".repeat(6)}]`, `race: [${"{ advance: 1s }, ".repeat(4)}]`),
      "5:5: expected at most 5040 runs, found 17280 orders of what races",
    ],
    [
      "race with an empty after",
      ofSteps("{ race: [{ advance: 1s }, { advance: 2s }], after: {} }"),
      "4:56: expected what must be true, found an empty mapping",
    ],
    [
      "race with an expect beside",
      ofSteps("{ race: [{ advance: 1s }, { advance: 2s }], status: LIVE 0/1 }"),
      '4:49: unknown key "status"',
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});

describe("requests that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    [
      "have an unknown method",
      ofSteps("request: DELET /order"),
      '4:14: expected a method and a path, such as DELETE /order, found "DELET" (did you mean DELETE?)',
    ],
    [
      "have no path",
      ofSteps("request: GET"),
      "4:17: expected a path after the method, found the end of the line",
    ],
    [
      "have a path that is none",
      ofSteps("request: GET order"),
      '4:18: expected a path such as /order, found "order"',
    ],
    [
      "have a path with a space",
      ofSteps("request: GET /order now"),
      '4:18: expected a path such as /order, found "/order now"',
    ],
    [
      "stand for something unknown",
      ofSteps("request: GET /book?token_id={tokn YES}"),
      '4:33: expected {token YES}, {market NAME}, {order NAME} or {address NAME} in braces, found "{tokn YES}" (did you mean token?)',
    ],
    [
      "answer with an unknown order",
      ofSteps(BID, "{ request: GET /orders, answers: { data: [{ id: '{order bit}' }] } }"),
      '5:54: unknown order "bit" (did you mean bid?)',
    ],
    [
      "mistype in the answer what stands for something",
      ofSteps(BID, "{ request: GET /orders, answers: { id: '{orer bid}' } }"),
      '5:45: expected {token YES}, {market NAME}, {order NAME} or {address NAME} in braces, found "{orer bid}" (did you mean order?)',
    ],
    [
      "mistype in the body what stands for something",
      ofSteps("{ request: POST /order, body: { tokenId: '{Token YES}' } }"),
      '4:47: expected {token YES}, {market NAME}, {order NAME} or {address NAME} in braces, found "{Token YES}" (did you mean token?)',
    ],
    [
      "stand for an unknown outcome",
      ofSteps("request: GET /book?token_id={token YSE}"),
      '4:33: expected YES or NO, found "YSE" (did you mean YES?)',
    ],
    [
      "stand for an unknown order",
      ofSteps(BID, "{ request: DELETE /order, body: { orderId: '{order bit}' } }"),
      '5:49: unknown order "bit" (did you mean bid?)',
    ],
    [
      "stand for an unknown market",
      ofSteps("request: GET /api/markets/{market rain}"),
      '4:31: unknown market "rain"',
    ],
    [
      "are signed by nobody known",
      ofSteps("{ request: GET /orders, as: alcie }"),
      '4:33: unknown account "alcie" (did you mean alice?)',
    ],
    [
      "have a list of headers",
      ofSteps("{ request: GET /orders, headers: [a] }"),
      "4:38: expected headers by name, found a list",
    ],
    [
      "have a header whose name is none",
      ofSteps("{ request: GET /orders, headers: { 'a b': c } }"),
      '4:40: expected the name of a header, found "a b"',
    ],
    [
      "have a header of two lines",
      ofSteps('{ request: GET /orders, headers: { a: "b\\r\\nc: d" } }'),
      '4:43: expected the text of a header on one line, found "b\\r\\nc: d"',
    ],
    [
      "hold a long id without quotes",
      ofSteps("{ request: POST /order, body: { tokenId: 1234567890123456789 } }"),
      "4:46: expected at most 15 digits, found 19 (quote it)",
    ],
    [
      "hold a number with too many digits",
      ofSteps("{ request: POST /order, body: { price: 0.12345678901234567 } }"),
      "4:44: expected a number of at most 15 digits, found 0.12345678901234567 (quote it)",
    ],
    [
      "hold a number that JSON does not know",
      ofSteps("{ request: POST /order, body: { price: .5 } }"),
      "4:44: expected a number as JSON writes it, found .5 (quote it if it is a text)",
    ],
    [
      "are refused with an unknown code",
      ofSteps("{ request: GET /orders, rejects: NOT_FOUND_AT_ALL }"),
      '4:38: expected an error code such as INVALID_TICK_SIZE, found "NOT_FOUND_AT_ALL"',
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});
