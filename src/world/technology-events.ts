import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

const GAMES = ["chess", "go", "poker", "bridge", "backgammon", "shogi"];
const DEVICES = ["phone", "headset", "laptop", "watch", "electric car", "home robot", "camera drone"];

/** Products, rankings and companies of a technology sector that does not exist. */
export const TECHNOLOGY: readonly EventTemplate[] = [
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const ranking = `${names.surname()} ranking`;
      const { moment, days } = endOf(random, "week", "month", "quarter");
      return {
        title: `Which company will lead the ${ranking} of language models ${moment}?`,
        about: `The ${ranking} compares language models, and each market stands for one company.`,
        source: "The first place of the public table decides, at midnight UTC.",
        tags: ["ai", "rankings"],
        days,
        subjects: names.several(count, () => names.company()),
        question: (company) => `Will ${company} lead the ${ranking} of language models ${moment}?`,
        condition: (company) => `a model of ${company} is first in the ${ranking} ${moment}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const game = random.pick(GAMES);
      const cup = `${names.city()} computer ${game} cup`;
      return {
        title: `Which program will win the ${cup}?`,
        about: `Programs play ${game} for the ${cup}, and each market stands for one of them.`,
        source: "The final standings of the organisers decide.",
        tags: ["ai", game],
        days: endOf(random, "week", "month").days,
        subjects: names.several(count, () => names.title()),
        question: (program) => `Will ${program} win the ${cup}?`,
        condition: (program) => `the program ${program} finishes first in the next ${cup}`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const company = names.company();
      const product = `${names.title()} ${random.pick(DEVICES)}`;
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return singleQuestion({
        asks: `Will ${company} ship the ${product} ${phrase}?`,
        when: `customers of ${company} receive the ${product} ${phrase}`,
        source: "A delivery to a paying customer counts, an announcement does not.",
        tags: ["products"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const [buyer, target] = names.several(2, () => names.company());
      const { phrase, days } = endOf(random, "quarter", "year");
      return singleQuestion({
        asks: `Will ${buyer} acquire ${target} ${phrase}?`,
        when: `${buyer} and ${target} announce a signed agreement ${phrase}`,
        source: "A joint statement or a filing with the authorities decides.",
        tags: ["companies", "mergers"],
        days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const company = `${names.surname()} Cloud`;
      const { phrase, days } = endOf(random, "week", "month", "quarter");
      return singleQuestion({
        asks: `Will ${company} be down for more than four hours ${phrase}?`,
        when: `${company} reports an outage of more than four hours ${phrase}`,
        source: "The history of the company's own status page decides.",
        tags: ["outages"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const app = names.title();
      const { phrase, days } = endOf(random, "month", "quarter", "year");
      return {
        title: `How many downloads will the app ${app} have ${phrase}?`,
        about: `${app} is new in the app stores, and each market asks for more downloads than the one before.`,
        source: "The sum of the counts that the stores show decides.",
        tags: ["apps"],
        days,
        subjects: rising(
          count,
          random.between(1, 8),
          random.between(1, 3),
          (millions) => `${millions} million`,
        ),
        question: (downloads) => `Will the app ${app} reach ${downloads} downloads ${phrase}?`,
        condition: (downloads) => `the stores count ${downloads} or more downloads of ${app} ${phrase}`,
      };
    },
  },
];
