import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

/** Heat, rain and storms over places that do not exist. */
export const WEATHER: readonly EventTemplate[] = [
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["week", "month", "season"],
    tell: ({ names, random, count }) => {
      const city = names.city();
      return {
        title: `How hot will it get in ${city} by {endDate}?`,
        about: `Each market names a temperature in ${city}, higher than the one before.`,
        source: "The highest reading of the airport's weather station decides.",
        tags: ["temperature"],
        subjects: rising(count, random.between(22, 34), random.between(1, 2), (degrees) => `${degrees}°C`),
        question: (degrees) => `Will it reach ${degrees} in ${city} by {endDate}?`,
        condition: (degrees) =>
          `the thermometer at the airport of ${city} shows ${degrees} or more by {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["week", "month", "season"],
    tell: ({ names, random, count }) => {
      const city = names.city();
      return {
        title: `How much rain will fall in ${city} by {endDate}?`,
        about: `Rain in ${city} is added up day by day, and each market names more of it than the one before.`,
        source: "The gauge of the national weather service decides.",
        tags: ["rain"],
        subjects: rising(count, random.between(2, 12) * 5, random.pick([5, 10]), (depth) => `${depth} mm`),
        question: (depth) => `Will at least ${depth} of rain fall in ${city} by {endDate}?`,
        condition: (depth) => `the gauge of ${city} collects ${depth} or more by {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["season"],
    tell: ({ names, random, count }) => {
      const coast = `the coast of ${names.region()}`;
      return {
        title: `How many storms will be named off ${coast} this season?`,
        about: `Storms off ${coast} get a name until {endDate}, and each market asks for more of them than the one before.`,
        source: "The list of the regional weather centre decides.",
        tags: ["storms"],
        subjects: rising(count, random.between(4, 12), random.between(1, 2)),
        question: (storms) => `Will at least ${storms} storms be named off ${coast} this season?`,
        condition: (storms) =>
          `the weather centre names ${storms} or more storms off ${coast} in the season that ends on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [20, 80],
    spans: ["week", "month", "season"],
    tell: ({ names }) => {
      const city = names.city();
      return singleQuestion({
        asks: `Will it snow in ${city} by {endDate}?`,
        when: `snow lies at the airport of ${city} on any morning by {endDate}`,
        source: "The morning report of the airport's weather station decides.",
        tags: ["snow"],
      });
    },
  },
  {
    shape: "single",
    chance: [15, 75],
    spans: ["week"],
    tell: ({ names }) => {
      const storm = `storm ${names.person().split(" ")[0]}`;
      const region = names.region();
      return singleQuestion({
        asks: `Will ${storm} make landfall in ${region} by {endDate}?`,
        when: `the centre of ${storm} crosses the coast of ${region} by {endDate}`,
        source: "The track that the regional weather centre publishes decides.",
        tags: ["storms", "landfall"],
      });
    },
  },
  {
    shape: "choice",
    spans: ["week", "month", "season"],
    tell: ({ names, count }) => {
      const region = names.region();
      return {
        title: `Which city of ${region} will be the hottest by {endDate}?`,
        about: `The cities of ${region} compare their highest temperatures, and each market stands for one city.`,
        source: "Airport weather stations decide; in a tie the earlier reading wins.",
        tags: ["temperature", "cities"],
        subjects: names.several(count, () => names.city()),
        question: (city) => `Will ${city} be the hottest city of ${region} by {endDate}?`,
        condition: (city) => `no city of ${region} reports a higher temperature than ${city} by {endDate}`,
      };
    },
  },
];
