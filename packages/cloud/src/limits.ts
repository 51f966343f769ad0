import { type RateLimits, rateLimits } from "./http/call-rates.ts";
import { type ConnectionLimits, connectionLimits } from "./http/connections.ts";
import { type BodyPatience, bodyPatience } from "./http/json-body.ts";
import { turnLimits } from "./http/turns.ts";

/** How much one process takes, from whom, and how long it waits. Each figure stands in the README. */
export interface Limits {
  readonly connections: ConnectionLimits;
  readonly body: BodyPatience;
  readonly rates: RateLimits;
  readonly turns: typeof turnLimits;
}

export const defaultLimits: Limits = {
  connections: connectionLimits,
  body: bodyPatience,
  rates: rateLimits,
  turns: turnLimits,
};
