-- CreateTable
CREATE TABLE "KeptAnswer" (
    "callerId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "body" TEXT,
    "madeId" TEXT,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "KeptAnswer_pkey" PRIMARY KEY ("callerId","key")
);

-- CreateIndex
CREATE INDEX "KeptAnswer_createdAtNs_idx" ON "KeptAnswer"("createdAtNs");
