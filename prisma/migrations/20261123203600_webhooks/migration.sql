CREATE TABLE "Webhook" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "eventTypes" TEXT[],
    "enabled" BOOLEAN NOT NULL,
    "secret" BYTEA NOT NULL,
    "disabledReason" TEXT,
    "failingSinceNs" BIGINT,
    "heldUntilNs" BIGINT NOT NULL DEFAULT 0,
    "attemptedAtNs" BIGINT NOT NULL DEFAULT 0,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Webhook_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "WebhookDelivery" (
    "webhookId" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "dueAtNs" BIGINT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "retriesLeft" INTEGER NOT NULL DEFAULT 5,
    "attemptedAtNs" BIGINT,
    "statusCode" INTEGER,
    "error" TEXT,

    CONSTRAINT "WebhookDelivery_pkey" PRIMARY KEY ("webhookId","eventId")
);

CREATE INDEX "Webhook_orgId_createdAtNs_id_idx" ON "Webhook"("orgId", "createdAtNs", "id");

CREATE INDEX "Webhook_projectId_idx" ON "Webhook"("projectId");

CREATE INDEX "WebhookDelivery_eventId_idx" ON "WebhookDelivery"("eventId");

ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "Webhook" ADD CONSTRAINT "Webhook_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "WebhookDelivery" ADD CONSTRAINT "WebhookDelivery_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "Webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "WebhookDelivery" ADD CONSTRAINT "WebhookDelivery_eventId_fkey" FOREIGN KEY ("eventId") REFERENCES "OutboxEvent"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What the schema cannot say.
ALTER TABLE "WebhookDelivery" ADD CONSTRAINT "WebhookDelivery_state_is_known" CHECK ("state" IN ('waiting', 'delivered', 'failed'));
CREATE INDEX "WebhookDelivery_due" ON "WebhookDelivery" ("webhookId", "dueAtNs") WHERE "state" = 'waiting';

-- An event becomes a delivery for each webhook that wants it, in the transaction of the event. A webhook that is deleted at the same moment
-- gets none: without the lock, the foreign key would refuse the change that the event is about.
CREATE FUNCTION downlink_queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "WebhookDelivery" ("webhookId", "eventId", "dueAtNs")
    SELECT w."id", e."id", e."occurredAtNs" FROM fresh e JOIN "Webhook" w
      ON w."orgId" = e."orgId" AND w."enabled" AND e."type" = ANY (w."eventTypes")
        AND (w."projectId" IS NULL OR w."projectId" = e."projectId")
    FOR KEY SHARE OF w;
  RETURN NULL;
END
$$;
CREATE TRIGGER "OutboxEvent_deliveries" AFTER INSERT ON "OutboxEvent" REFERENCING NEW TABLE AS fresh
  FOR EACH STATEMENT EXECUTE FUNCTION downlink_queue_deliveries();

-- A webhook that was deleted stays so after a restore. Its secret goes nowhere else.
CREATE FUNCTION downlink_note_deleted_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Webhook.delete', OLD."id", jsonb_build_object('id', OLD."id"));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "Webhook_ledger" AFTER DELETE ON "Webhook" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted_webhook();

-- What the service does by itself is written to the audit log, too.
ALTER TABLE "AuditEntry" DROP CONSTRAINT "AuditEntry_actorKind_is_known";
ALTER TABLE "AuditEntry" ADD CONSTRAINT "AuditEntry_actorKind_is_known"
  CHECK ("actorKind" IN ('apiKey', 'member', 'agent', 'site', 'commandLine', 'service')) NOT VALID;
