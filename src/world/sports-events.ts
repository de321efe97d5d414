import { type EventTemplate, endOf, rising, singleQuestion } from "./event-story.ts";

const SPORTS = ["football", "hockey", "rugby", "volleyball", "handball", "cricket", "basketball"];

/** Leagues, matches and records of teams that do not exist. */
export const SPORTS_EVENTS: readonly EventTemplate[] = [
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const sport = random.pick(SPORTS);
      const league = `${names.region()} ${sport} league`;
      return {
        title: `Who will win the ${league} this season?`,
        about: `The ${league} crowns one champion, and each market stands for one team.`,
        source: "The final table of the league decides.",
        tags: [sport, "champions"],
        days: endOf(random, "quarter", "season").days,
        subjects: names.several(count, () => names.team()),
        question: (team) => `Will the ${team} win the ${league} this season?`,
        condition: (team) => `the ${team} finish the season as champions of the ${league}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const cup = `${names.city()} Open`;
      return {
        title: `Who will win the ${cup}?`,
        about: `The ${cup} is a tennis tournament, and each market stands for one player.`,
        source: "The winner of the final decides; a player who withdraws has not won.",
        tags: ["tennis", "champions"],
        days: endOf(random, "week", "month").days,
        subjects: names.several(count, () => names.person()),
        question: (player) => `Will ${player} win the ${cup}?`,
        condition: (player) => `${player} wins the final of the next ${cup}`,
      };
    },
  },
  {
    shape: "choice",
    tell: ({ names, random, count }) => {
      const race = `${names.region()} Grand Prix`;
      return {
        title: `Who will win the ${race}?`,
        about: `One driver wins the ${race}, and each market stands for one of them.`,
        source: "The classification after penalties of the stewards decides.",
        tags: ["motorsport"],
        days: endOf(random, "week", "month").days,
        subjects: names.several(count, () => names.person()),
        question: (driver) => `Will ${driver} win the ${race}?`,
        condition: (driver) => `${driver} is classified first in the next ${race}`,
      };
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const [home, away] = names.several(2, () => names.team());
      const sport = random.pick(SPORTS);
      return singleQuestion({
        asks: `Will the ${home} beat the ${away}?`,
        when: `the ${home} win their next ${sport} match against the ${away}`,
        source: "The result on the field decides, extra time included; a draw is NO.",
        tags: [sport, "matches"],
        days: endOf(random, "week").days,
      });
    },
  },
  {
    shape: "single",
    tell: ({ names, random }) => {
      const team = names.team();
      const player = names.person();
      const { phrase, days } = endOf(random, "month", "season");
      return singleQuestion({
        asks: `Will the ${team} sign ${player} ${phrase}?`,
        when: `the ${team} announce a contract with ${player} ${phrase}`,
        source: "An announcement by the club or the player decides.",
        tags: [random.pick(SPORTS), "transfers"],
        days,
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const player = names.person();
      const league = `${names.region()} league`;
      return {
        title: `How many goals will ${player} score this season?`,
        about: `${player} plays in the ${league}, and each market asks for more goals than the one before.`,
        source: "The statistics of the league decide, without penalty shoot-outs.",
        tags: ["football", "goals"],
        days: endOf(random, "season").days,
        subjects: rising(count, random.between(8, 20), random.between(2, 4)),
        question: (goals) => `Will ${player} score at least ${goals} goals this season?`,
        condition: (goals) => `${player} scores ${goals} or more goals in the ${league} this season`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    tell: ({ names, random, count }) => {
      const team = names.team();
      const sport = random.pick(SPORTS);
      return {
        title: `How many matches will the ${team} win this season?`,
        about: `The ${team} play ${sport}, and each market asks for more wins than the one before.`,
        source: "Matches of the regular season count, friendly ones do not.",
        tags: [sport, "wins"],
        days: endOf(random, "season").days,
        subjects: rising(count, random.between(9, 18), 2),
        question: (wins) => `Will the ${team} win at least ${wins} matches this season?`,
        condition: (wins) => `the ${team} win ${wins} or more matches of the regular season`,
      };
    },
  },
];
