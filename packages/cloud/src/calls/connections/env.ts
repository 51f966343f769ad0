import type { HttpBindings } from "@hono/node-server";
import type { BodyPatience } from "../../process/limits/limits.ts";

/** The values that Hono carries for every request. */
export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    requestId: string;
    /** The path as the contract writes it: `/v1/devices/{nameOrId}`. */
    path?: string;
    bodyPatience?: BodyPatience;
    /** The route has released the request, and will answer it by itself later. */
    isHeld?: boolean;
    /** The cloud's incarnation, if it was read for this answer. */
    incarnation?: string;
  };
}
