import type { Flag } from "./command.ts";

const WHICH = "Which:";
const HOW = "How:";

/** The flags of `clobsim fuzz`, as its help shows them. */
export const FUZZ_FLAGS: readonly Flag[] = [
  {
    name: "seeds",
    group: WHICH,
    text: "FROM..TO, without TO itself; a million is 1000000, 1_000_000 or 1e6",
    otherwise: "0..10000",
  },
  { name: "shard", group: WHICH, text: "Only the i-th of n parts, as i/n: every n-th seed from the i-th on" },
  {
    name: "budget",
    group: WHICH,
    text: "Start no more seeds after so long, such as 10m",
    otherwise: "until every seed is done",
  },
  { name: "commands", group: HOW, text: "Commands of each seed", otherwise: "300" },
  {
    name: "via",
    group: HOW,
    text: "process, or http: a real server and real signatures",
    otherwise: "process",
  },
  {
    name: "workers",
    group: HOW,
    text: "Threads that run seeds; what is found is the same for any number",
    otherwise: "one for each processor",
  },
  { name: "seed-timeout", group: HOW, text: "A seed that takes longer hangs, a failure", otherwise: "60s" },
  {
    name: "out",
    group: "Output:",
    text: "Directory for results, scenarios and reports; of merge, the file to write",
    otherwise: "failures, if there are any; of merge, stdout",
  },
];
