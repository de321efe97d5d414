import type { Faker } from "@faker-js/faker";
import type { Stream } from "../core/random.ts";

/** Words that do not fit every start date. */
const CALENDAR =
  /\b(january|february|march|april|may|june|july|august|september|october|november|december|[a-z]+day)\b/i;
const words = (text: string): readonly string[] => text.split(", ");

/** Kinds of names: a list of words, or a pattern of other kinds. */
const KINDS: Readonly<Record<string, string | readonly string[]>> = {
  region: "{regionStem}{regionEnding}",
  regionStem: words("Vel, Kor, Mar, Tes, Bal, Nor, Sar, Lor, Cas, Dal, Hal, Pel, Ren"),
  regionEnding: words("andia, avia, enia, eria, mark, ova, ania, ora, wick, mere, heim"),
  company: "{surname} {trade}",
  trade: words("Labs, Industries, Motors, Robotics, Energy, Airlines, Systems, Foods, Group"),
  technologyCompany: "{surname} {technologyTrade}",
  technologyTrade: words("Labs, Systems, Robotics, Software, Computing, Devices"),
  coin: "{regionStem}{coinEnding}",
  coinEnding: words("coin, ium, bit, ether, cash, net"),
  team: "{city} {nickname}",
  nickname: words("Rovers, Falcons, Bears, Comets, Wolves, Giants, Kings, Pilots, Otters, Ravens"),
  plan: words("tram line, stadium, harbour tunnel, river park, airport runway, night bus, cycle bridge"),
  office: words("finance, transport, health, education, justice, energy, housing"),
  party: words("Harvest, Civic, Progress, Meadow, Lantern, Union, Liberty, Compass"),
  reform: words("tax reform, pension reform, voting age reform, rent cap, water act, school reform"),
  sport: words("football, hockey, rugby, volleyball, handball, cricket, basketball"),
  field: words("physics, chemistry, medicine, mathematics, biology, geology, astronomy"),
  planet: words("the Moon, Mars, Venus, Ceres, Europa, Titan, Ganymede"),
  discovery: words("a room-temperature superconductor, a new elementary particle, a new state of ice"),
  game: words("chess, go, poker, bridge, backgammon, shogi"),
  device: words("phone, headset, laptop, watch, electric car, home robot, camera drone"),
  genre: words("novel, biography, thriller, essay, poetry, debut"),
  award: words("best film, best documentary, best screenplay, best animation"),
};

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

  /** Creates names from a stream, with its own faker instance, because other code may use the shared one. */
  static async load(random: Stream): Promise<FictionalNames> {
    const { faker } = await import("@faker-js/faker/locale/en");
    const OwnFaker = faker.constructor as new (options: { locale: Faker["rawDefinitions"] }) => Faker;
    return new FictionalNames(new OwnFaker({ locale: faker.rawDefinitions }), random);
  }

  follow(random: Stream): void {
    this.#random = random;
    this.#faker.seed(random.below(4294967296));
  }

  /** Draws a name. @throws RangeError if the kind is unknown. */
  draw(kind: string): string {
    const { person, location, color, word } = this.#faker;
    switch (kind) {
      case "person":
        return this.#undated(() => `${person.firstName()} ${person.lastName()}`);
      case "firstName":
        return this.draw("person").split(" ")[0] as string;
      case "surname":
        return this.#undated(() => person.lastName(), /[^a-z]/i);
      case "city":
        for (;;) {
          const city = this.#undated(() => location.city());
          if (!this.#realCities.has(city)) return city;
        }
      case "title":
        // Two words in title case, for a film or a product.
        return this.#undated(() => {
          const first = this.#random.oneIn(2) ? color.human() : word.adjective();
          return `${capitalized(first)} ${capitalized(word.noun())}`;
        });
      default: {
        const words = KINDS[kind];
        if (words === undefined) throw new RangeError(`there are no names of the kind ${kind}`);
        return typeof words === "string"
          ? filled(words, (part) => this.draw(part))
          : this.#random.pick(words);
      }
    }
  }

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

/** Replaces each `{slot}` of a pattern. */
export const filled = (pattern: string, nameOf: (slot: string) => string): string =>
  pattern.replace(/\{(\w+)\}/g, (_, slot: string) => nameOf(slot));
