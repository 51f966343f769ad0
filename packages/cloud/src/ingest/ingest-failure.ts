/** The file can never be imported as it is; `message` tells a person what to do. Anything else thrown is tried again. */
export class IngestFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "IngestFailure";
    this.code = code;
  }
}
