import type { HttpBindings } from "@hono/node-server";

/** What Hono carries for every request. */
export interface Env {
  Bindings: HttpBindings;
  Variables: { requestId: string };
}
