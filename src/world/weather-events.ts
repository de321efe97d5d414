import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

/** Heat, rain and storms over places that do not exist. */
export const WEATHER: readonly EventTemplate[] = [
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const city = names.city();
      const { phrase, days } = endOf(random, "week", "month", "season");
      return {
        title: `How hot will it get in ${city} ${phrase}?`,
        about: `Each market names a temperature in ${city}, higher than the one before.`,
        source: "The highest reading of the airport's weather station decides.",
        tags: ["temperature"],
        days,
        subjects: rising(count, random.between(22, 34), random.between(1, 2), (degrees) => `${degrees}°C`),
        question: (degrees) => `Will it reach ${degrees} in ${city} ${phrase}?`,
        condition: (degrees) =>
          `the thermometer at the airport of ${city} shows ${degrees} or more ${phrase}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const city = names.city();
      const { phrase, days } = endOf(random, "week", "month", "season");
      return {
        title: `How much rain will fall in ${city} ${phrase}?`,
        about: `Rain in ${city} is added up day by day, and each market names more of it than the one before.`,
        source: "The gauge of the national weather service decides.",
        tags: ["rain"],
        days,
        subjects: rising(count, random.between(2, 12) * 5, random.pick([5, 10]), (depth) => `${depth} mm`),
        question: (depth) => `Will at least ${depth} of rain fall in ${city} ${phrase}?`,
        condition: (depth) => `the gauge of ${city} collects ${depth} or more ${phrase}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const coast = `the coast of ${names.region()}`;
      return {
        title: `How many storms will be named off ${coast} this season?`,
        about: `Storms off ${coast} get a name, and each market asks for more of them than the one before.`,
        source: "The list of the regional weather centre decides.",
        tags: ["storms"],
        days: endOf(random, "season").days,
        subjects: rising(count, random.between(4, 12), random.between(1, 2)),
        question: (storms) => `Will at least ${storms} storms be named off ${coast} this season?`,
        condition: (storms) => `the weather centre names ${storms} or more storms off ${coast} this season`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const city = names.city();
      const { phrase, days } = endOf(random, "week", "month", "season");
      return singleQuestion({
        asks: `Will it snow in ${city} ${phrase}?`,
        when: `snow lies at the airport of ${city} on any morning ${phrase}`,
        source: "The morning report of the airport's weather station decides.",
        tags: ["snow"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const storm = `storm ${names.person().split(" ")[0]}`;
      const region = names.region();
      return singleQuestion({
        asks: `Will ${storm} make landfall in ${region}?`,
        when: `the centre of ${storm} crosses the coast of ${region}`,
        source: "The track that the regional weather centre publishes decides.",
        tags: ["storms", "landfall"],
        days: endOf(random, "week").days,
      });
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const region = names.region();
      const { phrase, days } = endOf(random, "week", "month", "season");
      return {
        title: `Which city of ${region} will be the hottest ${phrase}?`,
        about: `The cities of ${region} compare their highest temperatures, and each market stands for one city.`,
        source: "Airport weather stations decide; in a tie the earlier reading wins.",
        tags: ["temperature", "cities"],
        days,
        subjects: names.several(count, () => names.city()),
        question: (city) => `Will ${city} be the hottest city of ${region} ${phrase}?`,
        condition: (city) => `no city of ${region} reports a higher temperature than ${city} ${phrase}`,
      };
    },
  },
];
