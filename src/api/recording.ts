import * as z from "zod";
import { endpoints, oneOf, optional, type Param } from "./endpoint.ts";
import * as field from "./schemas.ts";
import { exactly, named } from "./schemas.ts";

const MAX_NAME = 200;

/** One line, as every name of a scenario is. */
const oneLine = (what: string): Param<string | undefined> =>
  optional(
    `${what}, one line of at most ${MAX_NAME} characters.`,
    { type: "string", minLength: 1, maxLength: MAX_NAME },
    `one line of 1 to ${MAX_NAME} characters`,
    (text) =>
      text.trim() !== "" && text.length <= MAX_NAME && !/[\p{Cc}\p{Cs}]/u.test(text) ? text : undefined,
  );

/** What the live feed tells; `event-stream.ts` has its types. */
const STREAM = `What a journal keeps, as events of \`text/event-stream\`; the data of each is one line of JSON, times are virtual Unix ms.

- \`opening\`: where the reader begins, and why (\`reason\`): as it asked (\`start\`, \`now\`), or with the state as it stands, because it has fallen behind (\`slow\`), a snapshot was restored or the exchange reset (\`putBack\`), the id is of no entry that is held (\`unknown\`) or the session is too long to be told (\`tooLong\`). With all reasons but \`now\` it has \`config\`, \`start\` and \`base\`, as the first line of a journal; \`base.content.clobsim.digest\` is that of the history.
- \`command\`: \`s\` sequence, \`t\` time, \`k\` kind, \`d\` its fields, \`r\` 8 hex digits that name what it caused.
- \`refused\`: a refused request, as a journal notes it. \`clock\`: how the clock runs from now on.
- \`request\`: one that was to change something, or failed: \`requestId\`, \`method\`, \`path\`, \`status\`, wall \`ms\`, \`code\`, \`fault\`, \`caller\`, and the commands \`first\` to \`last\` that were accepted between its beginning and its answer. Of those that went well and made commands, the first 20 of each push.

An id begins with the sequence of the latest command. Sent back as \`Last-Event-ID\` it goes on behind its entry, without a gap or a repeat, or with an \`opening\` where that is not possible. Nothing is told before it is kept. Of what was before a reader with \`from=start\` came, commands and refused requests are told; their ids end in \`-start\`. At most 30 times a second something is sent, and a comment each 15 s.`;

const ENTRY_ID = /^\d{1,15}(?:(?:\.\d{1,15})?-[0-9a-f]{8}(?:-start)?)?$/;

export const entryId = optional(
  "The id of the entry behind which it goes on; the header `Last-Event-ID` wins over it.",
  { type: "string" },
  "the id of an entry such as 1893-5f0a91cc, or the sequence of a command",
  (text) => (ENTRY_ID.test(text) ? text : undefined),
);

/** GET /sim/scenario: the session as a checked scenario (contract, section 7); GET /sim/report: all of it to replay. */
export const recordingEndpoints = endpoints("control", "Control plane", {
  recordScenario: {
    route: "GET /sim/scenario",
    summary: "All that was done since the exchange was opened, as a scenario file that passes",
    query: { name: oneLine("What the scenario is called") },
    reply: exactly(
      "RecordedScenario",
      {
        name: z.string(),
        scenario: z.string().meta({ description: "A scenario file, YAML, that passes." }),
        orders: field.count,
        trades: field.count,
      },
      "What was done since the exchange was opened, with what came of it.",
    ),
    errors: ["SESSION_TOO_LONG", "SESSION_NOT_RECORDABLE"],
  },
  reportSession: {
    route: "GET /sim/report",
    summary: "All that another machine needs to replay what was done: a bug report",
    query: { reason: oneLine("Why the report is wanted") },
    reply: named(
      "Report",
      z.string(),
      "A journal, a JSON object a line: how the exchange was opened, every command with a hash of what it caused, and the hash of the state. `clobsim replay FILE` replays it.",
    ),
    media: "application/x-ndjson",
    errors: ["SESSION_TOO_LONG"],
  },
  streamSession: {
    route: "GET /sim/stream",
    summary: "What the exchange does, as it happens: Server-Sent Events without end",
    description: STREAM,
    query: {
      from: oneOf(["start", "now"], "Where it begins: with the session, or with what comes next (default)."),
      after: entryId,
    },
    reply: named(
      "Stream",
      z.string(),
      "Events `opening`, `command`, `refused`, `clock` and `request`, the data of each a JSON object in one line.",
    ),
    media: "text/event-stream",
    errors: ["UNAVAILABLE"],
  },
});
