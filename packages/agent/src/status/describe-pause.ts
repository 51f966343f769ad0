import type { PauseState } from "../uploads/upload-pause.ts";
import type { StatusDocument } from "./status-schema.ts";

/** Returns the pause as the status shows it; all fields are null where uploads are not paused. */
export function describePause(pause: Partial<PauseState> | undefined): StatusDocument["pause"] {
  return { by: pause?.by ?? null, since: pause?.since ?? null, until: pause?.until ?? null };
}
