-- CreateTable
CREATE TABLE "AccountIdentity" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "accountId" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "AccountIdentity_pkey" PRIMARY KEY ("issuer","subject")
);

-- CreateIndex
CREATE INDEX "AccountIdentity_accountId_idx" ON "AccountIdentity"("accountId");

-- AddForeignKey
ALTER TABLE "AccountIdentity" ADD CONSTRAINT "AccountIdentity_accountId_fkey" FOREIGN KEY ("accountId") REFERENCES "Account"("id") ON DELETE CASCADE ON UPDATE CASCADE;
