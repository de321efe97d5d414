import { type EventTemplate, endOf, rising, singleQuestion, tenths } from "./event-story.ts";

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
    tell: ({ names, random, count }) => {
      const region = names.region();
      const { moment, days } = endOf(random, "month", "quarter", "year");
      return {
        title: `Inflation in ${region} ${moment}`,
        about: `Each market names a yearly rate of inflation in ${region}, higher than the one before.`,
        source: "The first estimate of the statistics office decides, later revisions do not.",
        tags: ["inflation"],
        days,
        subjects: rising(count, random.between(15, 50), 2, (rate) => `${tenths(rate)}%`),
        question: (rate) => `Will inflation in ${region} be above ${rate} ${moment}?`,
        condition: (rate) => `consumer prices in ${region} rise by more than ${rate} over a year ${moment}`,
      };
    },
  },
  {
    shape: "ladder",
    tell: ({ names, random, count }) => {
      const region = names.region();
      const { moment, days } = endOf(random, "month", "quarter", "year");
      return {
        title: `Unemployment in ${region} ${moment}`,
        about: `Each market names a rate of unemployment in ${region}, higher than the one before.`,
        source: "The seasonally adjusted rate that the labour office publishes first decides.",
        tags: ["jobs"],
        days,
        subjects: rising(count, random.between(30, 70), 2, (rate) => `${tenths(rate)}%`),
        question: (rate) => `Will unemployment in ${region} be above ${rate} ${moment}?`,
        condition: (rate) => `more than ${rate} of the workforce of ${region} are out of work ${moment}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const bank = `the central bank of ${names.region()}`;
      return {
        title: `What will ${bank} decide next?`,
        about: `The governors of ${bank} meet, and each market stands for one decision.`,
        source: "The statement after the next scheduled meeting decides.",
        tags: ["central-banks", "interest-rates"],
        days: endOf(random, "week", "month", "quarter").days,
        subjects: DECISIONS.slice(0, count),
        question: (decision) => `Will ${bank} ${decision} at its next meeting?`,
        condition: (decision) => `the governors of ${bank} announce to ${decision.replace("its", "the")}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const company = names.company();
      return {
        title: `Who will be the next chief executive of ${company}?`,
        about: `${company} looks for a chief executive, and each market stands for one candidate.`,
        source: "The first permanent appointment that the board announces counts.",
        tags: ["companies", "appointments"],
        days: endOf(random, "month", "quarter", "year").days,
        subjects: names.several(count, () => names.person()),
        question: (person) => `Will ${person} be the next chief executive of ${company}?`,
        condition: (person) => `the board of ${company} names ${person} its next chief executive`,
      };
    },
  },
  {
    shape: "ladder",
    tell: ({ names, random, count }) => {
      const company = names.company();
      return {
        title: `How much will ${company} sell this quarter?`,
        about: `${company} reports its revenue, and each market names more of it than the one before.`,
        source: "The next quarterly report to shareholders decides.",
        tags: ["companies", "earnings"],
        days: endOf(random, "quarter").days,
        subjects: rising(count, random.between(8, 60), 2, (revenue) => `$${tenths(revenue)} billion`),
        question: (revenue) => `Will ${company} report at least ${revenue} of revenue this quarter?`,
        condition: (revenue) => `${company} reports a quarterly revenue of ${revenue} or more`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const company = names.company();
      const { phrase, days } = endOf(random, "quarter", "year");
      return singleQuestion({
        asks: `Will ${company} list its shares ${phrase}?`,
        when: `shares of ${company} trade on a public exchange ${phrase}`,
        source: "The first trade decides, a filing alone does not.",
        tags: ["companies", "listings"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const region = names.region();
      const { phrase, days } = endOf(random, "quarter", "year");
      return singleQuestion({
        asks: `Will ${region} be in recession ${phrase}?`,
        when: `the output of ${region} has shrunk for two quarters in a row ${phrase}`,
        source: "The figures that the statistics office publishes in time decide.",
        tags: ["growth"],
        days,
      });
    },
  },
];
