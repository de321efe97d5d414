import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

const FIELDS = ["physics", "chemistry", "medicine", "mathematics", "biology", "geology", "astronomy"];
const TARGETS = ["the Moon", "Mars", "Venus", "Ceres", "Europa", "Titan", "Ganymede"];
const FINDS = ["a room-temperature superconductor", "a new elementary particle", "a new state of ice"];

/** Missions, prizes and discoveries of institutes that do not exist. */
export const SCIENCE: readonly EventTemplate[] = [
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const prize = `${names.surname()} Prize for ${random.pick(FIELDS)}`;
      return {
        title: `Who will win the ${prize}?`,
        about: `A jury awards the ${prize}, and each market stands for one researcher.`,
        source: "The announcement of the jury decides; a shared prize goes to the person named first.",
        tags: ["prizes"],
        days: endOf(random, "month", "quarter", "year").days,
        subjects: names.several(count, () => names.person()),
        question: (person) => `Will ${person} win the ${prize}?`,
        condition: (person) => `the jury names ${person} the winner of the next ${prize}`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const probe = `${names.surname()} probe`;
      const target = random.pick(TARGETS);
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will the ${probe} reach orbit around ${target} ${phrase}?`,
        when: `the ${probe} completes one revolution around ${target} ${phrase}`,
        source: "The mission's own report decides, or tracking by two observatories.",
        tags: ["space"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const institute = `${names.city()} Institute`;
      const find = random.pick(FINDS);
      const { phrase, days } = endOf(random, "quarter", "year");
      return singleQuestion({
        asks: `Will a second team confirm the ${institute}'s claim of ${find} ${phrase}?`,
        when: `a team without ties to the ${institute} publishes a confirmation of ${find} ${phrase}`,
        source: "A paper in a journal with peer review counts, a preprint does not.",
        tags: ["replication"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const telescope = `${names.surname()} Telescope`;
      const { phrase, days } = endOf(random, "quarter", "year");
      return {
        title: `How many planets will the ${telescope} find ${phrase}?`,
        about: `The ${telescope} looks for planets of other stars, and each market asks for more than the one before.`,
        source: "Planets count from the day on which the catalogue lists them as confirmed.",
        tags: ["astronomy", "planets"],
        days,
        subjects: rising(count, random.between(1, 8) * 5, 5),
        question: (planets) => `Will the ${telescope} find at least ${planets} planets ${phrase}?`,
        condition: (planets) =>
          `the catalogue lists ${planets} or more planets of the ${telescope} ${phrase}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const company = `${names.surname()} Rockets`;
      const { phrase, days } = endOf(random, "quarter", "year");
      return {
        title: `How many launches will ${company} make ${phrase}?`,
        about: `${company} sends satellites to orbit, and each market asks for more launches than the one before.`,
        source: "A launch counts when its payload reaches orbit.",
        tags: ["space", "launches"],
        days,
        subjects: rising(count, random.between(3, 12), 1),
        question: (launches) => `Will ${company} make at least ${launches} launches ${phrase}?`,
        condition: (launches) => `${company} brings ${launches} or more payloads to orbit ${phrase}`,
      };
    },
  },
];
