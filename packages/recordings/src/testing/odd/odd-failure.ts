/** A promise that was not held. */
export class OddFailure extends Error {
  /** Which one, in the same words for every file. */
  readonly check: string;

  constructor(check: string, detail: string) {
    super(`${check} (${detail})`);
    this.name = "OddFailure";
    this.check = check;
  }
}
