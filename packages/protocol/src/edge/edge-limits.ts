import { pieceLimits } from "../shapes/pieces.ts";

/**
 * An agent and the cloud exchange desired state, not messages: the agent says what it has, the cloud says the full set of what it wants,
 * and both converge from any point. Every call except `hello` carries the lease in the header below.
 */
export const LEASE_HEADER = "downlink-lease";

/**
 * Every answer to an agent carries the cloud's incarnation at that moment. If it is not the one of the last hello, the agent says hello
 * again.
 */
export const INCARNATION_HEADER = "downlink-incarnation";

/** The limits that both sides keep, in bytes, seconds and counts. */
export const edgeLimits = {
  itemsPerReport: 500,
  permitsPerCall: 500,
  permitSeconds: 600,
  /** How long the agent acts on a permit. It is much less, so that for a cloud that was restored meanwhile the permit is still open. */
  permitUseSeconds: 60,
  bytesPerReport: 4 * 1024 * 1024,
  /**
   * The most requests in an answer of `work` to an agent that takes a part of the set; below, the most bytes of any answer that an agent
   * reads.
   */
  requestsPerAnswer: 10_000,
  bytesPerWork: 4 * 1024 * 1024,
  bytesPerAnswer: 8 * 1024 * 1024,
  leaseSeconds: 60,
  formerInstances: 8,
  /** How long a poll may wait. A cloud whose answer to `hello` does not say it knows only the former limit. */
  longPollSeconds: 55,
  formerLongPollSeconds: 30,
  heartbeatSeconds: 30,
  minPartBytes: 16 * 1024 * 1024,
  /** The size of a part on a slow link, where a part of the usual size would take longer than a minute. */
  slowLinkPartBytes: 5 * 1024 * 1024,
  maxParts: 9000,
  ...pieceLimits,
} as const;
