import { type CallInput, ErrorBody, LEASE_HEADER, type Operation, type Output } from "@downlink/protocol";
import { z } from "zod";

const ANSWER_MS = 60_000;

/** The control plane refused a call, and said why. */
export class RefusedError extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryAfterMs: number;

  constructor({ error, code }: ErrorBody, status: number, retryAfterMs: number) {
    super(error);
    this.name = "RefusedError";
    this.code = code;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface Caller {
  readonly url: string;
  readonly token: string;
}

interface Call {
  readonly lease?: number | undefined;
  readonly signal: AbortSignal;
  /** How much longer than usual the answer may take. */
  readonly waitMs?: number;
}

/** Makes one call. Throws a {@link RefusedError}, the error of the network, or the signal's reason. */
export async function callControlPlane<O extends Operation>(
  { url, token }: Caller,
  operation: O,
  { input, lease, signal, waitMs = 0 }: Call & { readonly input: CallInput<O> },
): Promise<Output<O>> {
  const fields = input as Record<string, unknown>;
  const response = await fetch(`${url}${pathOf(operation, fields)}`, {
    method: operation.method.toUpperCase(),
    headers: {
      authorization: `Bearer ${token}`,
      ...(operation.body && { "content-type": "application/json" }),
      ...(lease !== undefined && { [LEASE_HEADER]: String(lease) }),
    },
    ...(operation.body && { body: JSON.stringify(z.encode(operation.body, fieldsOf(operation.body, fields))) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS + waitMs)]),
    redirect: "error",
  });
  const answer: unknown = await response.json();
  if (response.status !== 200) throw refusal(response, answer);
  return operation.response!.parse(answer) as Output<O>;
}

function pathOf({ path, query }: Operation, fields: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(fields[name])));
  if (!query) return filled;
  const given = Object.entries(z.encode(query, fieldsOf(query, fields)) as object).filter(
    ([, value]) => value !== undefined,
  );
  return `${filled}?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`;
}

/** Returns the fields of a schema; those with a default are filled in. */
function fieldsOf(schema: z.ZodObject, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, field]) => {
      const isGiven = fields[name] !== undefined;
      return [name, isGiven || !(field instanceof z.ZodDefault) ? fields[name] : field.def.defaultValue];
    }),
  );
}

function refusal(response: Response, answer: unknown): RefusedError {
  const retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1000;
  const body = ErrorBody.safeParse(answer).data ?? { error: `status ${response.status}`, code: "Unknown" };
  return new RefusedError(body, response.status, retryAfterMs);
}
