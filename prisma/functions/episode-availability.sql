-- A primary site holds a recording's data while its status is `complete`. Each episode counts those of its recordings that no site holds, so
-- that lists of episodes need not look at recordings (`packages/cloud/src/data/episodes/`). Rows are locked in the order of the episodes, so that
-- no two changes wait for each other.

CREATE OR REPLACE FUNCTION downlink_count_missing() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  change integer := CASE WHEN TG_OP = 'UPDATE' AND NEW."importStatus" = 'complete' THEN -1 ELSE 1 END;
BEGIN
  PERFORM FROM "EpisodeAvailability"
    WHERE "episodeId" IN (SELECT "episodeId" FROM "EpisodeRecording" WHERE "recordingId" = OLD.id)
    ORDER BY "episodeId" FOR NO KEY UPDATE;
  UPDATE "EpisodeAvailability"
    SET "missingCount" = "missingCount" + change, "hasMissing" = "missingCount" + change > 0
    WHERE "episodeId" IN (SELECT "episodeId" FROM "EpisodeRecording" WHERE "recordingId" = OLD.id);
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "Recording_availability_changes" AFTER UPDATE OF "importStatus" ON "Recording" FOR EACH ROW
  WHEN ((OLD."importStatus" = 'complete') <> (NEW."importStatus" = 'complete')) EXECUTE FUNCTION downlink_count_missing();
CREATE OR REPLACE TRIGGER "Recording_availability_ends" AFTER DELETE ON "Recording" FOR EACH ROW
  WHEN (OLD."importStatus" = 'complete') EXECUTE FUNCTION downlink_count_missing();
