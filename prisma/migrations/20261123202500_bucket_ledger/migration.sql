-- Where a customer's bucket is and what its path policies say outlives a restore. What is repeated by every listing is no entry.
CREATE OR REPLACE FUNCTION downlink_write_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  data jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), TG_TABLE_NAME || '.' || lower(TG_OP),
        coalesce(data ->> 'id', data ->> 'tokenSha256', data ->> 'siteId'), data);
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER "SiteBucket_ledger" AFTER INSERT ON "SiteBucket" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE TRIGGER "IngestPathPolicy_ledger" AFTER INSERT ON "IngestPathPolicy" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
