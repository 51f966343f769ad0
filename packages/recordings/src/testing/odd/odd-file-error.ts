/** A promise that was not held. */
export class OddFileError extends Error {
  /** Which one, in the same words for every file. */
  readonly check: string;

  constructor(check: string, detail: string) {
    super(`${check} (${detail})`);
    this.name = "OddFileError";
    this.check = check;
  }
}
