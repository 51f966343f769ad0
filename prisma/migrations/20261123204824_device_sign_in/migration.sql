-- AlterTable
ALTER TABLE "SignInSession" ADD COLUMN     "isOfProgram" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "DeviceSignIn" (
    "id" TEXT NOT NULL,
    "deviceCodeSha256" TEXT NOT NULL,
    "userCode" TEXT NOT NULL,
    "clientId" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,
    "memberId" TEXT,
    "idTokenSha256" TEXT,
    "idTokenEndNs" BIGINT,

    CONSTRAINT "DeviceSignIn_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "DeviceSignIn_deviceCodeSha256_key" ON "DeviceSignIn"("deviceCodeSha256");

-- CreateIndex
CREATE UNIQUE INDEX "DeviceSignIn_userCode_key" ON "DeviceSignIn"("userCode");

-- CreateIndex
CREATE UNIQUE INDEX "DeviceSignIn_idTokenSha256_key" ON "DeviceSignIn"("idTokenSha256");

-- CreateIndex
CREATE INDEX "DeviceSignIn_memberId_idx" ON "DeviceSignIn"("memberId");

-- CreateIndex
CREATE INDEX "DeviceSignIn_expiresAtNs_idx" ON "DeviceSignIn"("expiresAtNs");

-- AddForeignKey
ALTER TABLE "DeviceSignIn" ADD CONSTRAINT "DeviceSignIn_memberId_fkey" FOREIGN KEY ("memberId") REFERENCES "Member"("id") ON DELETE CASCADE ON UPDATE CASCADE;
