import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { startCloud } from "../../../testing/start-cloud.ts";
import { type Received, startReceiver } from "./receiver.ts";

/** No server listens there. */
const REFUSING = "http://127.0.0.1:9/";
const SILENT = 3;
const REFUSED = 2;

/** The deliveries of events that occurred at once. */
export interface WebhookRound {
  /** From the beginning of the transaction that writes the events until each receiver that is well had all of them. */
  readonly tookMs: number;
  /** From the same moment until each of them arrived. */
  readonly delaysMs: readonly number[];
  /** The requests that each healthy receiver got. */
  readonly received: readonly (readonly Received[])[];
}

interface Closing {
  after(close: () => Promise<void> | void): void;
}

/** Starts a control plane with webhooks whose receivers are well, and others whose receivers are dead. */
export async function startWebhookLoad(t: Closing, well: number) {
  const cloud = await startCloud(t, { environment: { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" } });
  const { admin, deps } = cloud;
  const { orgId } = await admin.call(api.me.get, {});
  const register = async (url: string) =>
    (await admin.call(api.webhooks.create, { name: url, url, eventTypes: ["device.updated"] })).id;
  const receivers = await Promise.all(Array.from({ length: well }, () => startReceiver(t)));
  const ids = await Promise.all(receivers.map(({ url }) => register(url)));
  return {
    admin,
    /** The webhooks whose receivers are well. */
    ids,
    /** Registers five webhooks: three receivers take each request and never answer, two refuse the connection. */
    async registerDead(): Promise<string[]> {
      const silent = await Promise.all(Array.from({ length: SILENT }, () => startReceiver(t, () => {})));
      const refusing = Array.from({ length: REFUSED }, () => REFUSING);
      return Promise.all([...silent.map(({ url }) => url), ...refusing].map(register));
    },
    /** Has so many events occur in one transaction, and waits until each receiver that is well has all of them. */
    async send(round: string, count: number): Promise<WebhookRound> {
      const before = receivers.map(({ received }) => received.length);
      const about = { orgId, type: "device.updated", occurredAtNs: deps.clock.nowNs() };
      const ids = Array.from({ length: count }, (_, at) => `whev_${round}_${at}`);
      const beganMs = performance.now();
      await deps.db.prisma.outboxEvent.createMany({ data: ids.map((id, at) => ({ id, ...about, payload: { at } })) });
      const least = async () => Math.min(...receivers.map(({ received }, at) => received.length - before[at]!));
      for (let reached = 0; reached < count; reached += 100)
        await eventually(least, (least) => least >= Math.min(count, reached + 100));
      const received = receivers.map((receiver, at) => receiver.received.slice(before[at]));
      const delaysMs = received.flat().map(({ atMs }) => atMs - beganMs);
      return { tookMs: Math.max(...delaysMs), delaysMs, received };
    },
  };
}
