-- CreateTable
CREATE TABLE "LedgerEntry" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "isNoted" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "LedgerEntry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "LedgerEntry_subject_idx" ON "LedgerEntry"("subject");

CREATE INDEX "LedgerEntry_unnoted" ON "LedgerEntry" ("id") WHERE NOT "isNoted";
CREATE INDEX "LedgerEntry_blobKey" ON "LedgerEntry" (("data" ->> 'blobKey')) WHERE "kind" = 'Data.delete';

-- Entries sort by their ids in the order of time.
CREATE FUNCTION downlink_ledger_id() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT lpad(((extract(epoch FROM clock_timestamp()) * 1000000000)::bigint)::text, 19, '0') || '-' || left(replace(gen_random_uuid()::text, '-', ''), 16)
$$;

-- What is done because the ledger says so needs no entry of its own.
CREATE FUNCTION downlink_write_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  data jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), TG_TABLE_NAME || '.' || lower(TG_OP), coalesce(data ->> 'id', data ->> 'tokenSha256'), data);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER "Organization_ledger" AFTER INSERT OR DELETE ON "Organization" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "Project_ledger" AFTER INSERT OR DELETE ON "Project" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "Site_ledger" AFTER INSERT OR DELETE ON "Site" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "Device_ledger" AFTER INSERT OR DELETE ON "Device" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "ApiKey_ledger" AFTER INSERT OR UPDATE OR DELETE ON "ApiKey" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "DeviceToken_ledger" AFTER INSERT OR UPDATE OR DELETE ON "DeviceToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "SiteToken_ledger" AFTER INSERT OR DELETE ON "SiteToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "InboxToken_ledger" AFTER INSERT OR DELETE ON "InboxToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "Credential_ledger" AFTER INSERT OR DELETE ON "Credential" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
