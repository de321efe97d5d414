/** Keeps requests in order: while one that needs time is being answered, those that come after it wait. */
export class Gate {
  #held: Promise<void> | null = null;

  /** Lets nobody else pass until there is an answer. Who holds the gate must have passed it. */
  hold<T>(answer: Promise<T>): Promise<T> {
    const open = (): void => {
      this.#held = null;
    };
    this.#held = answer.then(open, open);
    return answer;
  }

  /** Goes on at once or, while somebody holds the gate, afterwards, in the order of coming. */
  pass(go: () => void): void {
    if (this.#held === null) go();
    else void this.#held.then(() => this.pass(go));
  }
}
