import { setTimeout as delay } from "node:timers/promises";

/** Lost packets as the two ends of a TCP connection notice them: nothing is missing or out of order, but it comes late. */
export interface PacketLoss {
  /** Sets in [0, 1) how likely each piece, and each repeat of it, is lost. */
  set(share: number): void;
  /** Resolves when the next piece of a connection may pass. */
  pass(): Promise<void>;
}

/** Linux waits at least this long before it sends again, and twice as long each further time. */
const RETRANSMISSION_MS = 200;
const LONGEST_MS = 3200;

export function createPacketLoss(): PacketLoss {
  let share = 0;
  return {
    set(given) {
      share = given;
    },
    async pass() {
      for (let ms = RETRANSMISSION_MS; Math.random() < share; ms = Math.min(2 * ms, LONGEST_MS)) await delay(ms);
    },
  };
}
