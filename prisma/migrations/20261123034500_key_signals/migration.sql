-- Processes remember what API keys say for a moment. Whatever takes something from a key or its credential tells all of them, with
-- its commit: no writer can forget it. Nothing is said of whose key it is, so that one transaction tells once. Prisma's schema
-- language has no triggers.

CREATE FUNCTION downlink_tell_of_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_credentials', '');
  RETURN NULL;
END $$;

CREATE TRIGGER "ApiKey_tells_of_change" AFTER UPDATE OR DELETE ON "ApiKey" FOR EACH ROW
  EXECUTE FUNCTION downlink_tell_of_key();
-- When it was used last is written twice a minute, and changes nothing.
CREATE TRIGGER "Credential_tells_of_change" AFTER UPDATE OF "tokenSha256", "apiKeyId", "expiresAtNs" ON "Credential" FOR EACH ROW
  WHEN (OLD."apiKeyId" IS NOT NULL AND (OLD."tokenSha256", OLD."apiKeyId", OLD."expiresAtNs")
    IS DISTINCT FROM (NEW."tokenSha256", NEW."apiKeyId", NEW."expiresAtNs"))
  EXECUTE FUNCTION downlink_tell_of_key();
CREATE TRIGGER "Credential_tells_of_end" AFTER DELETE ON "Credential" FOR EACH ROW WHEN (OLD."apiKeyId" IS NOT NULL)
  EXECUTE FUNCTION downlink_tell_of_key();
-- TRUNCATE calls no trigger of rows.
CREATE TRIGGER "ApiKey_tells_of_truncation" AFTER TRUNCATE ON "ApiKey" EXECUTE FUNCTION downlink_tell_of_key();
CREATE TRIGGER "Credential_tells_of_truncation" AFTER TRUNCATE ON "Credential" EXECUTE FUNCTION downlink_tell_of_key();
