// Parsing a body of 4 MiB takes up to a tenth of a second, in which its thread does nothing else.

import { extname } from "node:path";
import { Piscina } from "piscina";
import { threadEnvironment } from "../../background/indexing/indexing-thread.ts";
import { ApiError } from "../../core/errors.ts";
import type { Answer, SentBody } from "./body-thread-main.ts";
import type { DecodedBody, ReceivedBody } from "./decode-body.ts";

export interface BodyThread extends AsyncDisposable {
  /** Throws what {@link decodeBody} throws. The bytes cannot be used afterwards. */
  decode(received: ReceivedBody): Promise<DecodedBody>;
}

/** An agent that reports many files sends a large body each few seconds. */
const IDLE_MS = 60_000;

/** The thread starts with the first body, and ends when none came for a minute. */
export function openBodyThread(): BodyThread {
  const filename = new URL(`./body-thread-main${extname(import.meta.url)}`, import.meta.url).href;
  const pool = new Piscina<SentBody, Answer>({
    ...{ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS },
    env: threadEnvironment,
    execArgv: [],
  });
  return {
    async decode({ operation: { method, path }, bytes }) {
      const transferList = bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
      const answer = await pool.run({ method, path, bytes }, { transferList });
      if ("decoded" in answer) return answer.decoded;
      const { code, message, details } = answer.refused;
      throw new ApiError(code, message, { details });
    },
    [Symbol.asyncDispose]: () => pool.destroy(),
  };
}
