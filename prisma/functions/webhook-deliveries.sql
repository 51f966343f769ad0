-- An event becomes a delivery for each webhook that wants it, in the transaction of the event. `packages/cloud/src/background/outbox/outbox.ts`
-- writes events, `packages/cloud/src/organization/webhooks/claim-deliveries.ts` takes those that are due. A webhook that is deleted at the same moment gets none: without the
-- lock, the foreign key would refuse the change that the event is about.

CREATE OR REPLACE FUNCTION downlink_queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WebhookDelivery" ("webhookId", "eventId", "dueAtNs")
    SELECT w."id", e."id", e."occurredAtNs" FROM fresh e JOIN "Webhook" w
      ON w."orgId" = e."orgId" AND w."enabled" AND e."type" = ANY (w."eventTypes")
        AND (w."projectId" IS NULL OR w."projectId" = e."projectId")
    FOR KEY SHARE OF w;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "OutboxEvent_deliveries" AFTER INSERT ON "OutboxEvent" REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION downlink_queue_deliveries();
