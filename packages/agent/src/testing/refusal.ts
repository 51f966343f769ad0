import { type ErrorCode, errorCodes } from "@downlink/protocol";

export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode) {
    super(errorCodes[code].meaning);
    this.name = "Refusal";
    this.code = code;
    this.status = errorCodes[code].status;
  }
}
