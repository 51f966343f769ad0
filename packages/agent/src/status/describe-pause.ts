import type { PauseState } from "../uploads/upload-pause.ts";
import type { StatusDocument } from "./status-schema.ts";

/** As the status tells it; all null: nobody stopped uploads. */
export function describePause(pause: Partial<PauseState> | undefined): StatusDocument["pause"] {
  return { by: pause?.by ?? null, since: pause?.since ?? null, until: pause?.until ?? null };
}
