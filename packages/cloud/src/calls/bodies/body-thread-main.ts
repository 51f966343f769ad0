import { api, type Contract, type Operation } from "@downlink/protocol";
import { ApiError } from "../../core/errors.ts";
import { type BodyOperation, type DecodedBody, decodeBody } from "./decode-body.ts";

export interface SentBody extends Pick<Operation, "method" | "path"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type Refusal = Pick<ApiError, "code" | "message" | "details">;

/** An error would arrive without its class. */
export type Answer = { readonly decoded: DecodedBody } | { readonly refused: Refusal };

const operations: readonly Operation[] = Object.values(api).flatMap((contract) => Object.values(contract as Contract));

// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default function decodeSent({ method, path, bytes }: SentBody): Answer {
  const operation = operations.find((one) => one.method === method && one.path === path) as BodyOperation;
  try {
    return { decoded: decodeBody({ operation, bytes }) };
  } catch (error) {
    if (error instanceof ApiError) {
      const { code, message, details } = error;
      return { refused: { code, message, details } };
    }
    throw error;
  }
}
