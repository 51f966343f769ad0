import type { PauseState } from "../uploads/upload-pause.ts";
import type { StatusDocument } from "./status-schema.ts";

/** The pause as the status shows it; all fields are null where nobody stopped uploads. */
export function describePause(pause: Partial<PauseState> | undefined): StatusDocument["pause"] {
  return { by: pause?.by ?? null, since: pause?.since ?? null, until: pause?.until ?? null };
}
