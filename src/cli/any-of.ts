/** `a, b or c`: of two words or more, as a sentence lists what it expects. */
export const anyOf = (words: readonly string[]): string =>
  `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
