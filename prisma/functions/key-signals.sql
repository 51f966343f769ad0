-- Processes remember for a moment what an API key may do. A change that takes something from a key or its credential is signalled to all of
-- them at its commit, on the channel `downlink_credentials`: `packages/cloud/src/process/credentials/kept-credentials.ts` forgets all keys
-- then. The signal has no payload, so that a transaction sends it once. The time of a key's last use is written twice a minute and signals
-- nothing. TRUNCATE calls no trigger of rows, and has its own.

CREATE OR REPLACE FUNCTION downlink_tell_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_credentials', '');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "ApiKey_tells_of_change" AFTER UPDATE OR DELETE ON "ApiKey" FOR EACH ROW
  EXECUTE FUNCTION downlink_tell_of_key();
CREATE OR REPLACE TRIGGER "ApiKey_tells_of_truncation" AFTER TRUNCATE ON "ApiKey" EXECUTE FUNCTION downlink_tell_of_key();
CREATE OR REPLACE TRIGGER "Credential_tells_of_change" AFTER UPDATE OF "tokenSha256", "apiKeyId", "expiresAtNs" ON "Credential" FOR EACH ROW
  WHEN (OLD."apiKeyId" IS NOT NULL AND (OLD."tokenSha256", OLD."apiKeyId", OLD."expiresAtNs")
    IS DISTINCT FROM (NEW."tokenSha256", NEW."apiKeyId", NEW."expiresAtNs"))
  EXECUTE FUNCTION downlink_tell_of_key();
CREATE OR REPLACE TRIGGER "Credential_tells_of_end" AFTER DELETE ON "Credential" FOR EACH ROW WHEN (OLD."apiKeyId" IS NOT NULL)
  EXECUTE FUNCTION downlink_tell_of_key();
CREATE OR REPLACE TRIGGER "Credential_tells_of_truncation" AFTER TRUNCATE ON "Credential" EXECUTE FUNCTION downlink_tell_of_key();
