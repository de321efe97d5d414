import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

const GENRES = ["novel", "biography", "thriller", "essay", "poetry", "debut"];
const AWARDS = ["best film", "best documentary", "best screenplay", "best animation"];

/** Films, books and songs that do not exist. */
export const CULTURE: readonly EventTemplate[] = [
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const festival = `${names.city()} Film Festival`;
      const award = random.pick(AWARDS);
      return {
        title: `Which film will win ${award} at the ${festival}?`,
        about: `The jury of the ${festival} awards ${award}, and each market stands for one film.`,
        source: "The winner named at the closing ceremony decides.",
        tags: ["film", "awards"],
        days: endOf(random, "week", "month", "quarter").days,
        subjects: names.several(count, () => `The ${names.title()}`),
        question: (film) => `Will "${film}" win ${award} at the ${festival}?`,
        condition: (film) => `the jury of the ${festival} gives ${award} to "${film}"`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const prize = `${names.surname()} Prize for the best ${random.pick(GENRES)}`;
      return {
        title: `Who will win the ${prize}?`,
        about: `A jury awards the ${prize}, and each market stands for one author.`,
        source: "The announcement of the jury decides.",
        tags: ["books", "awards"],
        days: endOf(random, "month", "quarter", "year").days,
        subjects: names.several(count, () => names.person()),
        question: (author) => `Will ${author} win the ${prize}?`,
        condition: (author) => `${author} is awarded the next ${prize}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const contest = `${names.city()} Song Contest`;
      return {
        title: `Which region will win the ${contest}?`,
        about: `Regions send a song each to the ${contest}, and each market stands for one of them.`,
        source: "The points of jury and audience together decide.",
        tags: ["music", "contests"],
        days: endOf(random, "week", "month", "quarter").days,
        subjects: names.several(count, () => names.region()),
        question: (region) => `Will ${region} win the ${contest}?`,
        condition: (region) => `the song of ${region} finishes first in the next ${contest}`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const series = `The ${names.title()}`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will the series "${series}" be renewed ${phrase}?`,
        when: `another season of "${series}" is announced ${phrase}`,
        source: "A statement by the producers or the broadcaster decides.",
        tags: ["television"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const artist = names.person();
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will ${artist} announce a farewell tour ${phrase}?`,
        when: `${artist} announces concerts as a last tour ${phrase}`,
        source: "A statement by the artist or the management decides.",
        tags: ["music", "tours"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    tell: ({ names, random, count }) => {
      const film = `The ${names.title()}`;
      return {
        title: `How much will "${film}" earn on its opening weekend?`,
        about: `"${film}" opens in the cinemas, and each market names higher receipts than the one before.`,
        source: "The receipts of the first three days decide, as the distributor reports them.",
        tags: ["film", "box-office"],
        days: endOf(random, "week", "month").days,
        subjects: rising(count, random.between(3, 16) * 5, 5, (millions) => `$${millions} million`),
        question: (receipts) => `Will "${film}" earn at least ${receipts} on its opening weekend?`,
        condition: (receipts) => `cinemas take ${receipts} or more for "${film}" on its opening weekend`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const song = names.title();
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return {
        title: `How often will the song "${song}" be streamed ${phrase}?`,
        about: `"${song}" is climbing the charts, and each market asks for more streams than the one before.`,
        source: "The counters of the streaming services decide, added up.",
        tags: ["music", "charts"],
        days,
        subjects: rising(count, random.between(2, 9) * 10, 10, (millions) => `${millions} million`),
        question: (streams) => `Will the song "${song}" reach ${streams} streams ${phrase}?`,
        condition: (streams) => `the services count ${streams} or more streams of "${song}" ${phrase}`,
      };
    },
  },
];
