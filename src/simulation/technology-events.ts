import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

const GAMES = ["chess", "go", "poker", "bridge", "backgammon", "shogi"];
const DEVICES = ["phone", "headset", "laptop", "watch", "electric car", "home robot", "camera drone"];

/** Products, rankings and companies of a technology sector that does not exist. */
export const TECHNOLOGY: readonly EventTemplate[] = [
  {
    shape: "choice",
    spans: ["week", "month", "quarter"],
    tell: ({ names, count }) => {
      const ranking = `${names.surname()} ranking`;
      return {
        title: `Which company will lead the ${ranking} of language models on {endDate}?`,
        about: `The ${ranking} compares language models, and each market stands for one company.`,
        source: "The first place of the public table decides, at midnight UTC.",
        tags: ["ai", "rankings"],
        subjects: names.several(count, () => names.technologyCompany()),
        question: (company) => `Will ${company} lead the ${ranking} of language models on {endDate}?`,
        condition: (company) => `a model of ${company} is first in the ${ranking} at the end of {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    dropsOut: true,
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const game = random.pick(GAMES);
      const cup = `${names.city()} computer ${game} cup`;
      return {
        title: `Which program will win the ${cup}?`,
        about: `Programs play ${game} for the ${cup} until {endDate}, and each market stands for one of them.`,
        source: "The final standings of the organisers decide.",
        tags: ["ai", game],
        subjects: names.several(count, () => names.title()),
        question: (program) => `Will ${program} win the ${cup} on {endDate}?`,
        condition: (program) => `the program ${program} finishes first in the ${cup} on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [20, 80],
    spans: ["month", "quarter", "year"],
    tell: ({ names, random }) => {
      const company = names.technologyCompany();
      const product = `${names.title()} ${random.pick(DEVICES)}`;
      return singleQuestion({
        asks: `Will ${company} ship the ${product} by {endDate}?`,
        when: `customers of ${company} receive the ${product} by {endDate}`,
        source: "A delivery to a paying customer counts, an announcement does not.",
        tags: ["products"],
      });
    },
  },
  {
    shape: "single",
    chance: [5, 45],
    spans: ["quarter", "year"],
    tell: ({ names }) => {
      const [buyer, target] = names.several(2, () => names.technologyCompany());
      return singleQuestion({
        asks: `Will ${buyer} acquire ${target} by {endDate}?`,
        when: `${buyer} and ${target} announce a signed agreement by {endDate}`,
        source: "A joint statement or a filing with the authorities decides.",
        tags: ["companies", "mergers"],
      });
    },
  },
  {
    shape: "single",
    chance: [5, 30],
    spans: ["week", "month", "quarter"],
    tell: ({ names }) => {
      const company = `${names.surname()} Cloud`;
      return singleQuestion({
        asks: `Will ${company} be down for more than four hours by {endDate}?`,
        when: `${company} reports an outage of more than four hours by {endDate}`,
        source: "The history of the company's own status page decides.",
        tags: ["outages"],
      });
    },
  },
  {
    shape: "single",
    chance: [30, 75],
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, random }) => {
      const company = names.technologyCompany();
      const device = random.pick(DEVICES);
      return singleQuestion({
        asks: `Will ${company} present a new ${device} on {endDate}?`,
        when: `${company} shows a ${device} that can be ordered at its conference on {endDate}`,
        source: "The recording of the conference decides.",
        tags: ["products", "conferences"],
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["month", "quarter", "year"],
    tell: ({ names, random, count }) => {
      const app = names.title();
      return {
        title: `How many downloads will the app ${app} have by {endDate}?`,
        about: `${app} is new in the app stores, and each market asks for more downloads than the one before.`,
        source: "The sum of the counts that the stores show decides.",
        tags: ["apps"],
        subjects: rising(
          count,
          random.between(1, 8),
          random.between(1, 3),
          (millions) => `${millions} million`,
        ),
        question: (downloads) => `Will the app ${app} reach ${downloads} downloads by {endDate}?`,
        condition: (downloads) => `the stores count ${downloads} or more downloads of ${app} by {endDate}`,
      };
    },
  },
];
