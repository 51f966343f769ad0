/** A setting is missing or says what cannot be: a mistake of usage, exit code 2. */
export class InvalidSettingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidSettingError";
  }
}
