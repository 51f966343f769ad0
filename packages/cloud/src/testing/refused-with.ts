import type { ApiCallError } from "@downlink/client";

/** Matches a refusal with this status or code, whose message contains the text or matches it. */
export function refusedWith(
  statusOrCode: number | string,
  text: string | RegExp = "",
): (error: ApiCallError) => boolean {
  return ({ status, code, message }) =>
    (typeof statusOrCode === "number" ? status : code) === statusOrCode &&
    (typeof text === "string" ? message.includes(text) : text.test(message));
}
