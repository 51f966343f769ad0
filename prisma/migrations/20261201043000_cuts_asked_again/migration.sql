-- Each minute a job looks for the parts for which a disk had no room.
CREATE INDEX "Cut_asked_again_idx" ON "Cut"("updatedAtNs") WHERE "state" = 'failed' AND "reasonCode" = 'CutNoSpace';
