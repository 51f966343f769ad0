/** The result of one check. `fix` says what to do, wherever there is something to do. */
export interface Finding {
  readonly check: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly text: string;
  readonly fix: string | null;
}

export function ok(check: string, text: string): Finding {
  return { check, verdict: "ok", text, fix: null };
}

export function warn(check: string, text: string, fix: string): Finding {
  return { check, verdict: "warn", text, fix };
}

export function fail(check: string, text: string, fix: string): Finding {
  return { check, verdict: "fail", text, fix };
}
