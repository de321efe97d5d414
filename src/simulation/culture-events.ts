import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

const GENRES = ["novel", "biography", "thriller", "essay", "poetry", "debut"];
const AWARDS = ["best film", "best documentary", "best screenplay", "best animation"];

/** Films, books and songs that do not exist. */
export const CULTURE: readonly EventTemplate[] = [
  {
    shape: "choice",
    spans: ["week", "month", "quarter"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const festival = `${names.city()} Film Festival`;
      const award = random.pick(AWARDS);
      return {
        title: `Which film will win ${award} at the ${festival}?`,
        about: `The jury of the ${festival} awards ${award} on {endDate}, and each market stands for one film.`,
        source: "The winner named at the closing ceremony decides.",
        tags: ["film", "awards"],
        subjects: names.several(count, () => `The ${names.title()}`),
        question: (film) => `Will "${film}" win ${award} at the ${festival} on {endDate}?`,
        condition: (film) => `the jury of the ${festival} gives ${award} to "${film}" on {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    spans: ["month", "quarter", "year"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const prize = `${names.surname()} Prize for the best ${random.pick(GENRES)}`;
      return {
        title: `Who will win the ${prize}?`,
        about: `A jury awards the ${prize} on {endDate}, and each market stands for one author.`,
        source: "The announcement of the jury decides.",
        tags: ["books", "awards"],
        subjects: names.several(count, () => names.person()),
        question: (author) => `Will ${author} win the ${prize} on {endDate}?`,
        condition: (author) => `${author} is awarded the ${prize} on {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    dropsOut: true,
    spans: ["week", "month", "quarter"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const contest = `${names.city()} Song Contest`;
      return {
        title: `Which region will win the ${contest}?`,
        about: `Regions send a song each to the final of the ${contest} on {endDate}, and each market stands for one of them.`,
        source: "The points of jury and audience together decide; whoever misses the final has not won.",
        tags: ["music", "contests"],
        subjects: names.several(count, () => names.region()),
        question: (region) => `Will ${region} win the ${contest} on {endDate}?`,
        condition: (region) => `the song of ${region} finishes first in the ${contest} on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [35, 85],
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names }) => {
      const series = `The ${names.title()}`;
      return singleQuestion({
        asks: `Will the series "${series}" be renewed by {endDate}?`,
        when: `another season of "${series}" is announced by {endDate}`,
        source: "A statement by the producers or the broadcaster decides.",
        tags: ["television"],
      });
    },
  },
  {
    shape: "single",
    chance: [5, 40],
    spans: ["month", "quarter", "year"],
    tell: ({ names }) => {
      const artist = names.person();
      return singleQuestion({
        asks: `Will ${artist} announce a farewell tour by {endDate}?`,
        when: `${artist} announces concerts as a last tour by {endDate}`,
        source: "A statement by the artist or the management decides.",
        tags: ["music", "tours"],
      });
    },
  },
  {
    shape: "ladder",
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const film = `The ${names.title()}`;
      return {
        title: `How much will "${film}" earn on its opening weekend?`,
        about: `The opening weekend of "${film}" ends on {endDate}, and each market names higher receipts than the one before.`,
        source: "The receipts of the first three days decide, as the distributor reports them.",
        tags: ["film", "box-office"],
        subjects: rising(count, random.between(3, 16) * 5, 5, (millions) => `$${millions} million`),
        question: (receipts) => `Will "${film}" earn at least ${receipts} on its opening weekend?`,
        condition: (receipts) =>
          `cinemas take ${receipts} or more for "${film}" on the three days that end on {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["month", "quarter", "year"],
    tell: ({ names, random, count }) => {
      const song = names.title();
      return {
        title: `How often will the song "${song}" be streamed by {endDate}?`,
        about: `"${song}" is climbing the charts, and each market asks for more streams than the one before.`,
        source: "The counters of the streaming services decide, added up.",
        tags: ["music", "charts"],
        subjects: rising(count, random.between(2, 9) * 10, 10, (millions) => `${millions} million`),
        question: (streams) => `Will the song "${song}" reach ${streams} streams by {endDate}?`,
        condition: (streams) => `the services count ${streams} or more streams of "${song}" by {endDate}`,
      };
    },
  },
];
