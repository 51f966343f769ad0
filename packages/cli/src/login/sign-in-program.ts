import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError, type Client, isWorthRetrying } from "@downlink/client";
import {
  AskDeviceCode,
  AskIdToken,
  type BearerToken,
  DeviceCode,
  deviceCodeRoutes,
  ExchangeIdToken,
  type IdToken,
  type Operation,
  type Output,
} from "@downlink/protocol";
import { formatDuration } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";

const { ask, token, signIn } = deviceCodeRoutes;
/** These calls are made without a token, whatever an operation has to say of its access. */
const asCall = { method: "post", access: { kind: "person" }, summary: "" } as const;
const askCode = { ...asCall, path: ask.path, body: AskDeviceCode, response: DeviceCode } satisfies Operation;
const askToken = {
  ...asCall,
  path: token.path,
  body: AskIdToken,
  response: token.answers[200].content as typeof IdToken,
} satisfies Operation;
const exchange = {
  ...asCall,
  path: signIn.path,
  body: ExchangeIdToken,
  response: signIn.answers[200].content as typeof BearerToken,
} satisfies Operation;

interface Waiting {
  readonly notes: NodeJS.WritableStream;
  /** Waits for so many milliseconds between two questions. */
  readonly wait?: (ms: number) => Promise<unknown>;
  readonly nowMs?: () => number;
}

/** spec: RFC 8628, 3.5: a client that asks too often waits for so much longer from then on. */
const SLOW_DOWN_MS = 5000;
const MAX_CLIENT_ID_CHARACTERS = 100;

/**
 * Shows a code, waits until a member approves it in a browser, and returns the token of a session with their rights. Throws
 * {@link RefusedError} where the code was denied or is too old.
 */
export async function signInProgram(client: Client, waiting: Waiting): Promise<string> {
  const { notes, wait = delay, nowMs = () => performance.now() } = waiting;
  const clientId = `dl on ${printable(hostname())}`.slice(0, MAX_CLIENT_ID_CHARACTERS).trim();
  const code = await client.call(askCode, { clientId });
  const endMs = nowMs() + code.expiresIn * 1000;
  showCode(notes, code);
  let intervalMs = code.interval * 1000;
  for (let waitMs = intervalMs; ; ) {
    await wait(waitMs);
    try {
      const { idToken } = await client.call(askToken, { deviceCode: code.deviceCode, clientId });
      return (await client.call(exchange, { idToken })).bearerToken;
    } catch (error) {
      if (isSlowDown(error)) intervalMs += SLOW_DOWN_MS;
      waitMs = Math.max(intervalMs, judgeAnswer(error, nowMs() >= endMs));
    }
  }
}

function showCode(notes: NodeJS.WritableStream, code: Output<typeof askCode>): void {
  const [address, whole, userCode] = [code.verificationUri, code.verificationUriComplete, code.userCode].map(printable);
  notes.write(`Open ${address} in a browser, sign in, and type this code:\n\n    ${userCode}\n\n`);
  notes.write(`Or open ${whole}\nThe code is good for ${formatDuration(code.expiresIn)}. Waiting …\n`);
}

function isSlowDown(error: unknown): boolean {
  return error instanceof ApiCallError && error.status === 429;
}

/** Returns how long the service asks to wait before the next question. Throws where no further one would help. */
function judgeAnswer(error: unknown, isOver: boolean): number {
  if (isOver) throw new RefusedError("The code has expired before a member approved it. Call dl login again.");
  if (error instanceof ApiCallError && error.code === "AuthorizationPending") return 0;
  if (error instanceof ApiCallError && error.status === 401)
    throw new RefusedError("The sign-in was denied, or its code is not good any more. Nothing was written.");
  if (!isWorthRetrying(error)) throw error;
  return error instanceof ApiCallError ? (error.retryAfterMs ?? 0) : 0;
}
