import type { HttpBindings } from "@hono/node-server";
import type { BodyPatience } from "../limits/limits.ts";

/** What Hono carries for every request. */
export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    requestId: string;
    /** As the contract writes it: `/v1/devices/{nameOrId}`. */
    path?: string;
    bodyPatience?: BodyPatience;
    /** The route has let go of the request, and answers it by itself later. */
    isHeld?: boolean;
    /** The cloud's, as far as it was read for this answer. */
    incarnation?: string;
  };
}
