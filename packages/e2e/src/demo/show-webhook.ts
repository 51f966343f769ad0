import type { Client } from "@downlink/client";
import { api, type WebhookDelivery, webhookEventTypes } from "@downlink/protocol";
import { say, sayStep } from "./say.ts";
import type { WaitFor } from "./wait-for.ts";

/** The setting that allows the control plane to send to this machine. */
export const sendsToThisMachine = { DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8,::1" };

/** Registers a webhook for every event, and returns its id. */
export async function registerWebhook(admin: Client, url: string): Promise<string> {
  sayStep(`Registering a webhook at ${url} for every event`);
  const { id, secret } = await admin.call(api.webhooks.create, {
    name: "demo",
    url,
    eventTypes: [...webhookEventTypes],
  });
  say(`webhook ${id}, whose deliveries the secret ${secret} signs`);
  return id;
}

/** Prints what became of each event, once each was tried. */
export async function showDeliveries(admin: Client, waitFor: WaitFor, id: string): Promise<void> {
  sayStep("What the webhook was sent");
  const isTried = ({ attempts }: WebhookDelivery) => attempts > 0;
  const deliveries = await waitFor(() => admin.call(api.webhooks.listDeliveries, { id }), {
    isWanted: (all) => all.length > 0 && all.every(isTried),
    describe: (all) => `${all.filter(isTried).length} of ${all.length} events were sent`,
  });
  for (const { type, state, statusCode, durationMs, error } of deliveries.toReversed())
    say(`${type.padEnd(24)} ${state.padEnd(10)} ${error ?? `${statusCode} after ${durationMs} ms`}`);
}
