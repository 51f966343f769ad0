-- A change of what is wanted of an agent, or of its permission to ask, is signalled on the channel `downlink_work` at its commit: no
-- writer can forget it, and no crash falls between the change and its signal. The payload is the id of the device or site.
-- `packages/cloud/src/process/polls/work-signals.ts` listens, and lets waiting polls ask again.

-- Requests for imports and salvages.
CREATE OR REPLACE FUNCTION downlink_tell_agent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_work', coalesce("deviceId", "siteId")) FROM "Agent"
    WHERE id IN (OLD."agentId", NEW."agentId");
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "ImportRequest_tells_of_change" AFTER UPDATE OF
    "agentId", "state", "recordingId", "versionId", "deviceId", "priority", "isAcknowledged", "isOver", "errorCode", "errorText"
  ON "ImportRequest" FOR EACH ROW
  WHEN (coalesce(OLD."agentId", NEW."agentId") IS NOT NULL AND
    (OLD."agentId", OLD."state", OLD."recordingId", OLD."versionId", OLD."deviceId", OLD."priority", OLD."isAcknowledged",
      OLD."isOver", OLD."errorCode", OLD."errorText")
    IS DISTINCT FROM
    (NEW."agentId", NEW."state", NEW."recordingId", NEW."versionId", NEW."deviceId", NEW."priority", NEW."isAcknowledged",
      NEW."isOver", NEW."errorCode", NEW."errorText"))
  EXECUTE FUNCTION downlink_tell_agent();
CREATE OR REPLACE TRIGGER "ImportRequest_tells_of_end" AFTER DELETE ON "ImportRequest" FOR EACH ROW
  WHEN (OLD."agentId" IS NOT NULL AND NOT OLD."isAcknowledged") EXECUTE FUNCTION downlink_tell_agent();
CREATE OR REPLACE TRIGGER "ImportRequest_tells_of_new" AFTER INSERT ON "ImportRequest" FOR EACH ROW
  WHEN (NEW."agentId" IS NOT NULL) EXECUTE FUNCTION downlink_tell_agent();
CREATE OR REPLACE TRIGGER "SalvageRequest_tells_of_any" AFTER INSERT OR DELETE ON "SalvageRequest" FOR EACH ROW
  EXECUTE FUNCTION downlink_tell_agent();
CREATE OR REPLACE TRIGGER "SalvageRequest_tells_of_change" AFTER UPDATE OF "id", "agentId", "versionId", "priority", "state"
  ON "SalvageRequest" FOR EACH ROW
  WHEN ((OLD.id, OLD."agentId", OLD."versionId", OLD."priority", OLD."state")
    IS DISTINCT FROM (NEW.id, NEW."agentId", NEW."versionId", NEW."priority", NEW."state"))
  EXECUTE FUNCTION downlink_tell_agent();

-- A cut whose import ends is told by its import request.
CREATE OR REPLACE TRIGGER "Cut_tells_of_any" AFTER INSERT OR DELETE ON "Cut" FOR EACH ROW
  EXECUTE FUNCTION downlink_tell_agent();
CREATE OR REPLACE TRIGGER "Cut_tells_of_change" AFTER UPDATE OF "agentId", "versionId", "priority", "state"
  ON "Cut" FOR EACH ROW
  WHEN ((OLD."agentId", OLD."versionId", OLD."priority", OLD."state")
    IS DISTINCT FROM (NEW."agentId", NEW."versionId", NEW."priority", NEW."state"))
  EXECUTE FUNCTION downlink_tell_agent();

-- Settings are part of the work of the owner's agent.
CREATE OR REPLACE FUNCTION downlink_tell_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_work', NEW.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "Device_tells_of_settings" AFTER UPDATE OF
    "enabled", "retainRecordingsSeconds", "autoDeleteAfterImport", "agentSettings" ON "Device" FOR EACH ROW
  WHEN ((OLD."enabled", OLD."retainRecordingsSeconds", OLD."autoDeleteAfterImport", OLD."agentSettings")
    IS DISTINCT FROM (NEW."enabled", NEW."retainRecordingsSeconds", NEW."autoDeleteAfterImport", NEW."agentSettings"))
  EXECUTE FUNCTION downlink_tell_owner();
CREATE OR REPLACE TRIGGER "Site_tells_of_settings" AFTER UPDATE OF "type", "retainRecordingsSeconds", "agentSettings" ON "Site" FOR EACH ROW
  WHEN ((OLD."type", OLD."retainRecordingsSeconds", OLD."agentSettings")
    IS DISTINCT FROM (NEW."type", NEW."retainRecordingsSeconds", NEW."agentSettings"))
  EXECUTE FUNCTION downlink_tell_owner();

-- At a site a device's requests depend on whether the device is enabled.
CREATE OR REPLACE FUNCTION downlink_tell_sites() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_work', a."siteId") FROM "Agent" a WHERE a."siteId" IS NOT NULL AND a.id IN (
    SELECT "agentId" FROM "ImportRequest" WHERE "orgId" = NEW."orgId" AND "deviceId" = NEW.id AND NOT "isAcknowledged");
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "Device_tells_sites" AFTER UPDATE OF "enabled" ON "Device" FOR EACH ROW
  WHEN (OLD."enabled" <> NEW."enabled") EXECUTE FUNCTION downlink_tell_sites();

-- An agent that waits with a token does not wait on without it. Tokens go with their device or site.
CREATE OR REPLACE FUNCTION downlink_tell_token() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('downlink_work', to_jsonb(OLD) ->> TG_ARGV[0]);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "DeviceToken_tells_of_change" AFTER DELETE OR UPDATE OF "enabled", "deviceId" ON "DeviceToken" FOR EACH ROW
  WHEN (OLD."deviceId" IS NOT NULL) EXECUTE FUNCTION downlink_tell_token('deviceId');
CREATE OR REPLACE TRIGGER "SiteToken_tells_of_end" AFTER DELETE ON "SiteToken" FOR EACH ROW
  EXECUTE FUNCTION downlink_tell_token('siteId');
