import { type ErrorCode, errorCodes } from "@downlink/protocol";

export class RefusalError extends Error {
  readonly code: ErrorCode;
  readonly status: number;

  constructor(code: ErrorCode) {
    super(errorCodes[code].meaning);
    this.name = "RefusalError";
    this.code = code;
    this.status = errorCodes[code].status;
  }
}
