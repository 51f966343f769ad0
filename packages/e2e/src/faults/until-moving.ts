import { eventually } from "@downlink/recordings/testing";
import type { TcpProxy } from "../processes/tcp-proxy.ts";
import type { FaultBed } from "./fault-bed.ts";

const SLOWED_BYTES_PER_SECOND = 4_000_000;
/** More than everything takes except for the large file's first part. */
const MOVED_BYTES = 5_000_000;

/** Slows the link down, and waits until the first part of the large file is being sent, with all others behind it. */
export async function untilMoving({ proxy }: FaultBed, life: Promise<void>): Promise<void> {
  life.catch(() => {}); // the code that waits for its end gets the error
  proxy.throttle(SLOWED_BYTES_PER_SECOND);
  await untilSent(proxy, MOVED_BYTES);
}

/** Waits until so many more bytes went towards the cloud. */
export async function untilSent(proxy: TcpProxy, bytes: number): Promise<void> {
  const before = proxy.sentBytes();
  await eventually(
    async () => proxy.sentBytes(),
    (sent) => sent >= before + bytes,
  );
}
