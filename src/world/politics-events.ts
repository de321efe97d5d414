import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

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
    tell: ({ names, random, count }) => {
      const city = names.city();
      return {
        title: `Who will win the ${city} mayoral election?`,
        about: `The voters of ${city} elect a mayor, and each market stands for one candidate.`,
        source: `The result that the city's election office certifies decides.`,
        tags: ["elections", "mayor"],
        days: endOf(random, "month", "quarter").days,
        subjects: names.several(count, () => names.person()),
        question: (candidate) => `Will ${candidate} win the ${city} mayoral election?`,
        condition: (candidate) => `${candidate} is elected mayor of ${city}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const region = names.region();
      return {
        title: `Who will be the next governor of ${region}?`,
        about: `${region} chooses a governor, and each market stands for one candidate.`,
        source: "The first person sworn in after the vote counts, whoever leads in the polls.",
        tags: ["elections", "governor"],
        days: endOf(random, "quarter", "year").days,
        subjects: names.several(count, () => names.person()),
        question: (candidate) => `Will ${candidate} be the next governor of ${region}?`,
        condition: (candidate) => `${candidate} is the next governor of ${region} to be sworn in`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const city = names.city();
      const plan = random.pick(PLANS);
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will the ${city} council approve the ${plan} ${phrase}?`,
        when: `a majority of the ${city} council votes for the ${plan} ${phrase}`,
        source: "The minutes that the council publishes decide.",
        tags: ["councils"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const person = names.person();
      const office = `${random.pick(OFFICES)} minister of ${names.region()}`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will ${person} resign as ${office} ${phrase}?`,
        when: `${person} announces to leave as ${office} ${phrase}`,
        source: "A statement by the minister or the government counts, a rumour does not.",
        tags: ["cabinet"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    tell: ({ names, random, count }) => {
      const region = names.region();
      const reform = random.pick(REFORMS);
      return {
        title: `How many people will vote on the ${reform} in ${region}?`,
        about: `${region} holds a referendum on the ${reform}, and each market asks for more turnout than the one before.`,
        source: "The turnout that the electoral commission reports decides, without spoiled ballots.",
        tags: ["referendums", "turnout"],
        days: endOf(random, "month", "quarter").days,
        subjects: rising(count, random.between(6, 9) * 5, 5, (level) => `${level}%`),
        question: (level) => `Will turnout in the ${region} referendum on the ${reform} be above ${level}?`,
        condition: (level) =>
          `more than ${level} of the registered voters of ${region} vote on the ${reform}`,
      };
    },
  },
  {
    shape: "ladder",
    tell: ({ names, random, count }) => {
      const region = names.region();
      const party = `${random.pick(PARTIES)} Party`;
      return {
        title: `How many seats will the ${party} win in ${region}?`,
        about: `${region} elects its assembly, and each market asks for more seats of the ${party} than the one before.`,
        source: "The distribution of seats that the electoral commission publishes first decides.",
        tags: ["elections", "assembly"],
        days: endOf(random, "month", "quarter", "year").days,
        subjects: rising(count, random.between(4, 16) * 5, 5),
        question: (seats) => `Will the ${party} win at least ${seats} seats in the ${region} assembly?`,
        condition: (seats) => `the ${party} wins ${seats} or more seats in the next assembly of ${region}`,
      };
    },
  },
];
