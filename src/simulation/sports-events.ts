import { type EventTemplate, rising, singleQuestion } from "./event-story.ts";

const SPORTS = ["football", "hockey", "rugby", "volleyball", "handball", "cricket", "basketball"];

/** Leagues, matches and records of teams that do not exist. */
export const SPORTS_EVENTS: readonly EventTemplate[] = [
  {
    shape: "choice",
    dropsOut: true,
    spans: ["quarter", "season"],
    isScheduled: true,
    tell: ({ names, random, count }) => {
      const sport = random.pick(SPORTS);
      const league = `${names.region()} ${sport} league`;
      return {
        title: `Who will win the ${league}?`,
        about: `The season of the ${league} ends on {endDate}, and each market stands for one team.`,
        source: "The final table of the league decides.",
        tags: [sport, "champions"],
        subjects: names.several(count, () => names.team()),
        question: (team) => `Will the ${team} win the ${league} this season?`,
        condition: (team) =>
          `the ${team} are champions of the ${league} at the end of the season on {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    dropsOut: true,
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const cup = `${names.city()} Open`;
      return {
        title: `Who will win the ${cup}?`,
        about: `The final of the ${cup}, a tennis tournament, is on {endDate}, and each market stands for one player.`,
        source: "The winner of the final decides; a player who withdraws has not won.",
        tags: ["tennis", "champions"],
        subjects: names.several(count, () => names.person()),
        question: (player) => `Will ${player} win the ${cup} on {endDate}?`,
        condition: (player) => `${player} wins the final of the ${cup} on {endDate}`,
      };
    },
  },
  {
    shape: "choice",
    spans: ["week", "month"],
    isScheduled: true,
    tell: ({ names, count }) => {
      const race = `${names.region()} Grand Prix`;
      return {
        title: `Who will win the ${race}?`,
        about: `The ${race} is raced on {endDate}, and each market stands for one driver.`,
        source: "The classification after penalties of the stewards decides.",
        tags: ["motorsport"],
        subjects: names.several(count, () => names.person()),
        question: (driver) => `Will ${driver} win the ${race} on {endDate}?`,
        condition: (driver) => `${driver} is classified first in the ${race} on {endDate}`,
      };
    },
  },
  {
    shape: "single",
    chance: [25, 75],
    spans: ["week"],
    isScheduled: true,
    tell: ({ names, random }) => {
      const [home, away] = names.several(2, () => names.team());
      const sport = random.pick(SPORTS);
      return singleQuestion({
        asks: `Will the ${home} beat the ${away} on {endDate}?`,
        when: `the ${home} win their ${sport} match against the ${away} on {endDate}`,
        source: "The result on the field decides, extra time included; a draw is NO.",
        tags: [sport, "matches"],
      });
    },
  },
  {
    shape: "single",
    chance: [10, 60],
    spans: ["month", "season"],
    tell: ({ names, random }) => {
      const team = names.team();
      const player = names.person();
      return singleQuestion({
        asks: `Will the ${team} sign ${player} by {endDate}?`,
        when: `the ${team} announce a contract with ${player} by {endDate}`,
        source: "An announcement by the club or the player decides.",
        tags: [random.pick(SPORTS), "transfers"],
      });
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["season"],
    tell: ({ names, random, count }) => {
      const player = names.person();
      const league = `${names.region()} football league`;
      return {
        title: `How many goals will ${player} score this season?`,
        about: `${player} plays in the ${league} until {endDate}, and each market asks for more goals than the one before.`,
        source: "The statistics of the league decide, without penalty shoot-outs.",
        tags: ["football", "goals"],
        subjects: rising(count, random.between(8, 20), random.between(2, 4)),
        question: (goals) => `Will ${player} score at least ${goals} goals this season?`,
        condition: (goals) =>
          `${player} scores ${goals} or more goals in the ${league} in the season that ends on {endDate}`,
      };
    },
  },
  {
    shape: "ladder",
    passesEarly: true,
    spans: ["season"],
    tell: ({ names, random, count }) => {
      const team = names.team();
      const sport = random.pick(SPORTS);
      return {
        title: `How many matches will the ${team} win this season?`,
        about: `The ${team} play ${sport} until {endDate}, and each market asks for more wins than the one before.`,
        source: "Matches of the regular season count, friendly ones do not.",
        tags: [sport, "wins"],
        subjects: rising(count, random.between(9, 18), 2),
        question: (wins) => `Will the ${team} win at least ${wins} matches this season?`,
        condition: (wins) =>
          `the ${team} win ${wins} or more matches of the regular season that ends on {endDate}`,
      };
    },
  },
];
