import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

const FIELDS = ["physics", "chemistry", "medicine", "mathematics", "biology", "geology", "astronomy"];
const TARGETS = ["the Moon", "Mars", "Venus", "Ceres", "Europa", "Titan", "Ganymede"];
const FINDS = ["a room-temperature superconductor", "a new elementary particle", "a new state of ice"];

/** Missions, prizes and discoveries of institutes that do not exist. */
export const SCIENCE: readonly EventTemplate[] = [
  {
    shape: "choice",
    spans: ["week", "month", "quarter", "year"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const prize = `${names.surname()} Prize for ${random.pick(FIELDS)}`;
      return {
        title: `Who will win the ${prize}?`,
        about: `A jury awards the ${prize} on {endDate}, and each market stands for one researcher.`,
        source: "The announcement of the jury decides; a shared prize goes to the person named first.",
        tags: ["prizes"],
        subjects: names.several(count, () => names.person()),
        question: (person) => `Will ${person} win the ${prize} on {endDate}?`,
        condition: (person) => `the jury names ${person} the winner of the ${prize} on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [40, 85],
    spans: ["week", "month", "quarter", "year"],
    tell: ({ names, random }) => {
      const probe = `${names.surname()} probe`;
      const target = random.pick(TARGETS);
      return singleQuestion({
        asks: `Will the ${probe} reach orbit around ${target} by {endDate}?`,
        when: `the ${probe} completes one revolution around ${target} by {endDate}`,
        source: "The mission's own report decides, or tracking by two observatories.",
        tags: ["space"],
      });
    },
  },
  {
    shape: "single",
    chance: [30, 75],
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names }) => {
      const rocket = `${names.surname()} rocket`;
      return singleQuestion({
        asks: `Will the ${rocket} reach orbit on its first flight on {endDate}?`,
        when: `the first ${rocket} brings its payload to orbit on {endDate}`,
        source: "Tracking by two stations decides; a flight that is put off is NO.",
        tags: ["space", "launches"],
      });
    },
  },
  {
    shape: "single",
    chance: [4, 25],
    spans: ["quarter", "year"],
    tell: ({ names, random }) => {
      const institute = `${names.city()} Institute`;
      const find = random.pick(FINDS);
      return singleQuestion({
        asks: `Will a second team confirm the ${institute}'s claim of ${find} by {endDate}?`,
        when: `a team without ties to the ${institute} publishes a confirmation of ${find} by {endDate}`,
        source: "A paper in a journal with peer review counts, a preprint does not.",
        tags: ["replication"],
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["quarter", "year"],
    tell: ({ names, random, count }) => {
      const telescope = `${names.surname()} Telescope`;
      return {
        title: `How many planets will the ${telescope} find by {endDate}?`,
        about: `The ${telescope} looks for planets of other stars, and each market asks for more than the one before.`,
        source: "Planets count from the day on which the catalogue lists them as confirmed.",
        tags: ["astronomy", "planets"],
        subjects: rising(count, random.between(1, 8) * 5, 5),
        question: (planets) => `Will the ${telescope} find at least ${planets} planets by {endDate}?`,
        condition: (planets) =>
          `the catalogue lists ${planets} or more planets of the ${telescope} by {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["quarter", "year"],
    tell: ({ names, random, count }) => {
      const company = `${names.surname()} Rockets`;
      return {
        title: `How many launches will ${company} make by {endDate}?`,
        about: `${company} sends satellites to orbit, and each market asks for more launches than the one before.`,
        source: "A launch counts when its payload reaches orbit.",
        tags: ["space", "launches"],
        subjects: rising(count, random.between(3, 12), 1),
        question: (launches) => `Will ${company} make at least ${launches} launches by {endDate}?`,
        condition: (launches) => `${company} brings ${launches} or more payloads to orbit by {endDate}`,
      };
    },
  },
];
