import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

const PLANS = [
  "tram line",
  "stadium",
  "harbour tunnel",
  "river park",
  "airport runway",
  "night bus",
  "cycle bridge",
];
const OFFICES = ["finance", "transport", "health", "education", "justice", "energy", "housing"];
const PARTIES = ["Harvest", "Civic", "Progress", "Meadow", "Lantern", "Union", "Liberty", "Compass"];
const REFORMS = [
  "tax reform",
  "pension reform",
  "voting age reform",
  "rent cap",
  "water act",
  "school reform",
];

/** Elections, councils and offices of places that do not exist. */
export const POLITICS: readonly EventTemplate[] = [
  {
    shape: "choice",
    dropsOut: true,
    spans: ["week", "month", "quarter"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const city = names.city();
      return {
        title: `Who will win the ${city} mayoral election?`,
        about: `The voters of ${city} elect a mayor on {endDate}, and each market stands for one candidate.`,
        source: `The result that the city's election office certifies decides.`,
        tags: ["elections", "mayor"],
        subjects: names.several(count, () => names.person()),
        question: (candidate) => `Will ${candidate} win the ${city} mayoral election on {endDate}?`,
        condition: (candidate) => `${candidate} is elected mayor of ${city} on {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    dropsOut: true,
    spans: ["quarter", "year"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const region = names.region();
      return {
        title: `Who will be the next governor of ${region}?`,
        about: `${region} elects a governor on {endDate}, and each market stands for one candidate.`,
        source: "The winner that the electoral commission declares counts, whoever leads in the polls.",
        tags: ["elections", "governor"],
        subjects: names.several(count, () => names.person()),
        question: (candidate) => `Will ${candidate} be elected governor of ${region} on {endDate}?`,
        condition: (candidate) => `${candidate} wins the vote for governor of ${region} on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [25, 80],
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names, random }) => {
      const city = names.city();
      const plan = random.pick(PLANS);
      return singleQuestion({
        asks: `Will the ${city} council approve the ${plan} by {endDate}?`,
        when: `a majority of the ${city} council votes for the ${plan} by {endDate}`,
        source: "The minutes that the council publishes decide.",
        tags: ["councils"],
      });
    },
  },
  {
    shape: "single",
    chance: [5, 35],
    spans: ["month", "quarter", "year"],
    tell: ({ names, random }) => {
      const person = names.person();
      const office = `${random.pick(OFFICES)} minister of ${names.region()}`;
      return singleQuestion({
        asks: `Will ${person} resign as ${office} by {endDate}?`,
        when: `${person} announces a resignation as ${office} by {endDate}`,
        source: "A statement by the minister or the government counts, a rumour does not.",
        tags: ["cabinet"],
      });
    },
  },
  {
    shape: "ladder",
    spans: ["week", "month", "quarter"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const region = names.region();
      const reform = random.pick(REFORMS);
      return {
        title: `How many people will vote on the ${reform} in ${region}?`,
        about: `${region} holds a referendum on the ${reform} on {endDate}, and each market asks for more turnout than the one before.`,
        source: "The turnout that the electoral commission reports decides, without spoiled ballots.",
        tags: ["referendums", "turnout"],
        subjects: rising(count, random.between(6, 9) * 5, 5, (level) => `${level}%`),
        question: (level) =>
          `Will turnout in the ${region} referendum on the ${reform} be above ${level} on {endDate}?`,
        condition: (level) =>
          `more than ${level} of the registered voters of ${region} vote on the ${reform} on {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    spans: ["month", "quarter", "year"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const region = names.region();
      const party = `${random.pick(PARTIES)} Party`;
      return {
        title: `How many seats will the ${party} win in ${region}?`,
        about: `${region} elects its assembly on {endDate}, and each market asks for more seats of the ${party} than the one before.`,
        source: "The distribution of seats that the electoral commission publishes first decides.",
        tags: ["elections", "assembly"],
        subjects: rising(count, random.between(4, 16) * 5, 5),
        question: (seats) =>
          `Will the ${party} win at least ${seats} seats in the ${region} assembly on {endDate}?`,
        condition: (seats) =>
          `the ${party} wins ${seats} or more of the seats in the assembly of ${region} on {endDate}`,
      };
    },
  },
];
