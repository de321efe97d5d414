import type { Faker } from "@faker-js/faker";
import type { Stream } from "../core/random.ts";

/** Words that would date a text that has to fit any start. */
const CALENDAR =
  /\b(january|february|march|april|may|june|july|august|september|october|november|december|[a-z]+day)\b/i;
const REGION_STEMS = [
  "Vel",
  "Kor",
  "Mar",
  "Tes",
  "Bal",
  "Nor",
  "Sar",
  "Lor",
  "Cas",
  "Dal",
  "Hal",
  "Pel",
  "Ren",
];
const REGION_ENDINGS = [
  "andia",
  "avia",
  "enia",
  "eria",
  "mark",
  "ova",
  "ania",
  "ora",
  "wick",
  "mere",
  "heim",
];
const NICKNAMES = [
  "Rovers",
  "Falcons",
  "Bears",
  "Comets",
  "Wolves",
  "Giants",
  "Kings",
  "Pilots",
  "Otters",
  "Ravens",
];
const TRADES = [
  "Labs",
  "Industries",
  "Motors",
  "Robotics",
  "Energy",
  "Airlines",
  "Systems",
  "Foods",
  "Group",
];
const TECHNOLOGY_TRADES = ["Labs", "Systems", "Robotics", "Software", "Computing", "Devices"];
const COIN_ENDINGS = ["coin", "ium", "bit", "ether", "cash", "net"];

/** Names of people, places and things that do not exist, in English. */
export class FictionalNames {
  readonly #faker: Faker;
  readonly #realCities: ReadonlySet<string>;
  #random: Stream;

  private constructor(faker: Faker, random: Stream) {
    this.#faker = faker;
    this.#realCities = new Set(faker.definitions.location.city_name ?? []);
    this.#random = random;
    faker.setDefaultRefDate(0);
  }

  /** Names that follow from the stream alone: no other user of faker in the process changes them or is changed. */
  static async load(random: Stream): Promise<FictionalNames> {
    const { faker } = await import("@faker-js/faker/locale/en");
    const OwnFaker = faker.constructor as new (options: { locale: Faker["rawDefinitions"] }) => Faker;
    return new FictionalNames(new OwnFaker({ locale: faker.rawDefinitions }), random);
  }

  /** Starts over from another stream. */
  follow(random: Stream): void {
    this.#random = random;
    this.#faker.seed(random.below(4294967296));
  }

  person(): string {
    const { person } = this.#faker;
    return this.#undated(() => `${person.firstName()} ${person.lastName()}`);
  }

  surname(): string {
    const { person } = this.#faker;
    return this.#undated(() => person.lastName(), /[^a-z]/i);
  }

  city(): string {
    const { location } = this.#faker;
    for (;;) {
      const city = this.#undated(() => location.city());
      if (!this.#realCities.has(city)) return city;
    }
  }

  /** A country or a state. */
  region(): string {
    return this.#random.pick(REGION_STEMS) + this.#random.pick(REGION_ENDINGS);
  }

  company(): string {
    return `${this.surname()} ${this.#random.pick(TRADES)}`;
  }

  /** A company of the technology sector. */
  technologyCompany(): string {
    return `${this.surname()} ${this.#random.pick(TECHNOLOGY_TRADES)}`;
  }

  /** A coin of a blockchain. */
  coin(): string {
    return this.#random.pick(REGION_STEMS) + this.#random.pick(COIN_ENDINGS);
  }

  team(): string {
    return `${this.city()} ${this.#random.pick(NICKNAMES)}`;
  }

  /** Two words in title case, such as a film or a product is called. */
  title(): string {
    const { color, word } = this.#faker;
    return this.#undated(() => {
      const first = this.#random.oneIn(2) ? color.human() : word.adjective();
      return `${capitalized(first)} ${capitalized(word.noun())}`;
    });
  }

  /** Several different ones of a kind. */
  several(count: number, draw: () => string): string[] {
    const found = new Set<string>();
    while (found.size < count) found.add(draw());
    return [...found];
  }

  #undated(draw: () => string, refused: RegExp = CALENDAR): string {
    for (;;) {
      const text = draw();
      if (!CALENDAR.test(text) && !refused.test(text)) return text;
    }
  }
}

const capitalized = (words: string): string =>
  words.replace(/(^|[ -])[a-z]/g, (letter) => letter.toUpperCase());
