-- CreateTable
CREATE TABLE "FailedTry" (
    "key" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "endsAtNs" BIGINT NOT NULL,

    CONSTRAINT "FailedTry_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "FailedTry_endsAtNs_idx" ON "FailedTry"("endsAtNs");
