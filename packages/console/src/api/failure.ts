import { ApiCallError, NetworkError } from "@downlink/client";
import { type Organization, SeveralOrganizations } from "./plain-call.ts";

/**
 * `away`: no answer, or not one of ours · `signedOut`: the user has to sign in · `refused`: a sign-in was not accepted · `forbidden`: the user may not · `busy`: the service asks
 * to wait · `conflict`: the present state does not allow it · `missing`: there is no such thing · `invalid`: the input is not valid ·
 * `other`.
 */
export type FailureKind =
  | "away"
  | "signedOut"
  | "refused"
  | "forbidden"
  | "busy"
  | "conflict"
  | "missing"
  | "invalid"
  | "other";

export interface Failure {
  readonly kind: FailureKind;
  readonly text: string;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The faults of single fields, by their path. */
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** The organizations among which the user can choose. */
  readonly organizations?: readonly Organization[];
}

/** Says in one sentence what went wrong, and what kind of failure it is. */
export function explainFailure(error: unknown): Failure {
  if (error instanceof ApiCallError) {
    const { status, message, code, requestId, retryAfterMs, details } = error;
    const kind = kindOf(status, code);
    const text = kind === "signedOut" ? "The session has ended." : sentence(message);
    const known = { kind, text, code, requestId, retryAfterMs, details };
    return error instanceof SeveralOrganizations ? { ...known, organizations: error.organizations } : known;
  }
  if (error instanceof NetworkError) return { ...NO_FACTS, kind: "away", text: "The control plane cannot be reached." };
  return { ...NO_FACTS, kind: "other", text: sentence(error instanceof Error ? error.message : String(error)) };
}

/** Explains a failure before the sign-in: a wrong password or a link that was used is no session that ended. */
export function explainRefusal(error: unknown): Failure {
  const failure = explainFailure(error);
  if (failure.kind !== "signedOut") return failure;
  return { ...failure, kind: "refused", text: sentence((error as ApiCallError).message) };
}

/** The facts of a failure that the service did not answer. */
export const NO_FACTS = { code: undefined, requestId: undefined, retryAfterMs: undefined, details: [] } as const;
const KINDS: Readonly<Record<number, FailureKind>> = {
  400: "invalid",
  401: "signedOut",
  403: "forbidden",
  404: "missing",
  409: "conflict",
  429: "busy",
  503: "busy",
};

/** An answer without a code is not one of our service: a proxy's, or that of a network that wants a sign-in of its own. */
function kindOf(status: number, code: string | undefined): FailureKind {
  if (code === undefined) return "away";
  return KINDS[status] ?? "other";
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
