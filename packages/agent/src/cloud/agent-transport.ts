import { type UndiciTransport, undiciTransport, type WayOut } from "@downlink/client/node";
import { edgeLimits } from "@downlink/protocol";

/** Parsing 18 MB of brackets takes more memory than the agent has: a server that answers in place of the control plane must not end it. */
const limits = { bytes: edgeLimits.bytesPerAnswer, depth: 32, containers: 100_000 };

export function agentTransport(way?: WayOut): UndiciTransport {
  return undiciTransport({ way, limits });
}
