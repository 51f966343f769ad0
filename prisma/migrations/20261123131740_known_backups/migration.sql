-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "foundAgainAtNs" BIGINT;

-- CreateTable
CREATE TABLE "Backup" (
    "id" TEXT NOT NULL,
    "startedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Backup_pkey" PRIMARY KEY ("id")
);

-- A database that is set back to before a backup knows of it again.
CREATE TRIGGER "Backup_ledger" AFTER INSERT ON "Backup" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
