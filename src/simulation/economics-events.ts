import { type EventTemplate, rising, singleQuestion, tenths } from "./event-story.ts";

/** The likeliest first. */
const DECISIONS = [
  "leave its interest rate alone",
  "cut its interest rate by 25 basis points",
  "raise its interest rate by 25 basis points",
  "cut its interest rate by 50 basis points",
  "raise its interest rate by 50 basis points",
  "cut its interest rate by 75 basis points",
  "raise its interest rate by 75 basis points",
  "change its interest rate by 100 basis points or more",
];

/** Prices, rates and companies of economies that do not exist. */
export const ECONOMICS: readonly EventTemplate[] = [
  {
    shape: "ladder",
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const region = names.region();
      return {
        title: `What will the next inflation rate of ${region} be?`,
        about: `${region} reports its yearly inflation on {endDate}, and each market names a higher rate than the one before.`,
        source: "The first estimate of the statistics office decides, later revisions do not.",
        tags: ["inflation"],
        subjects: rising(count, random.between(15, 50), 2, (rate) => `${tenths(rate)}%`),
        question: (rate) => `Will ${region} report inflation above ${rate} on {endDate}?`,
        condition: (rate) =>
          `${region} reports on {endDate} that consumer prices rose by more than ${rate} over a year`,
      };
    },
  },
  {
    shape: "ladder",
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const region = names.region();
      return {
        title: `What will the next unemployment rate of ${region} be?`,
        about: `${region} reports its unemployment on {endDate}, and each market names a higher rate than the one before.`,
        source: "The seasonally adjusted rate that the labour office publishes first decides.",
        tags: ["jobs"],
        subjects: rising(count, random.between(30, 70), 2, (rate) => `${tenths(rate)}%`),
        question: (rate) => `Will ${region} report unemployment above ${rate} on {endDate}?`,
        condition: (rate) =>
          `${region} reports on {endDate} that more than ${rate} of its workforce are out of work`,
      };
    },
  },
  {
    shape: "choice",
    isRanked: true,
    spans: ["week", "month", "quarter"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const bank = `the central bank of ${names.region()}`;
      return {
        title: `What will ${bank} decide next?`,
        about: `The governors of ${bank} meet on {endDate}, and each market stands for one decision.`,
        source: "The statement after the meeting decides.",
        tags: ["central-banks", "interest-rates"],
        subjects: DECISIONS.slice(0, count),
        question: (decision) => `Will ${bank} ${decision} on {endDate}?`,
        condition: (decision) =>
          `the governors of ${bank} announce on {endDate} to ${decision.replace("its", "the")}`,
      };
    },
  },
  {
    shape: "choice",
    dropsOut: true,
    spans: ["month", "quarter", "year"],
    tell: ({ names, count }) => {
      const company = names.company();
      return {
        title: `Who will be the next chief executive of ${company}?`,
        about: `${company} wants to name a chief executive by {endDate}, and each market stands for one candidate.`,
        source: "The first permanent appointment that the board announces counts.",
        tags: ["companies", "appointments"],
        subjects: names.several(count, () => names.person()),
        question: (person) => `Will ${person} be named chief executive of ${company} by {endDate}?`,
        condition: (person) => `the board of ${company} names ${person} its chief executive by {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    spans: ["month", "quarter"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const company = names.company();
      return {
        title: `How much revenue will ${company} report?`,
        about: `${company} reports its quarter on {endDate}, and each market names more revenue than the one before.`,
        source: "The quarterly report to shareholders decides.",
        tags: ["companies", "earnings"],
        subjects: rising(count, random.between(8, 60), 2, (revenue) => `$${tenths(revenue)} billion`),
        question: (revenue) => `Will ${company} report at least ${revenue} of revenue on {endDate}?`,
        condition: (revenue) => `${company} reports a quarterly revenue of ${revenue} or more on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [30, 75],
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names }) => {
      const company = names.company();
      return singleQuestion({
        asks: `Will ${company} raise its dividend on {endDate}?`,
        when: `the board of ${company} proposes a higher dividend than a year before on {endDate}`,
        source: "The report to shareholders decides.",
        tags: ["companies", "dividends"],
      });
    },
  },
  {
    shape: "single",
    chance: [10, 65],
    spans: ["quarter", "year"],
    tell: ({ names }) => {
      const company = names.company();
      return singleQuestion({
        asks: `Will ${company} list its shares by {endDate}?`,
        when: `shares of ${company} trade on a public exchange by {endDate}`,
        source: "The first trade decides, a filing alone does not.",
        tags: ["companies", "listings"],
      });
    },
  },
  {
    shape: "single",
    chance: [10, 55],
    spans: ["quarter", "year"],
    tell: ({ names }) => {
      const region = names.region();
      return singleQuestion({
        asks: `Will ${region} be in recession by {endDate}?`,
        when: `figures published by {endDate} show that the output of ${region} has shrunk for two quarters in a row`,
        source: "The figures of the statistics office decide.",
        tags: ["growth"],
      });
    },
  },
];
