-- The default comes after the column, so that no row is written anew: what was published before has none.
ALTER TABLE "OutboxEvent" ADD COLUMN     "xid" BIGINT;
ALTER TABLE "OutboxEvent" ALTER COLUMN "xid" SET DEFAULT ((pg_current_xact_id())::text)::bigint;

-- CreateIndex
CREATE INDEX "OutboxEvent_orgId_xid_idx" ON "OutboxEvent"("orgId", "xid");
