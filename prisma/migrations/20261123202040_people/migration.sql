-- AlterTable
ALTER TABLE "Layout" ADD COLUMN     "creatorOrgMemberId" TEXT;

-- AlterTable
ALTER TABLE "Project" ADD COLUMN     "isInviteOnly" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "ViewLink" ADD COLUMN     "memberId" TEXT,
ALTER COLUMN "apiKeyId" DROP NOT NULL;

-- CreateTable
CREATE TABLE "Account" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "passwordHash" TEXT,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Member" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "accountId" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "Member_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ProjectMember" (
    "projectId" TEXT NOT NULL,
    "memberId" TEXT NOT NULL,

    CONSTRAINT "ProjectMember_pkey" PRIMARY KEY ("projectId","memberId")
);

-- CreateTable
CREATE TABLE "Invitation" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,

    CONSTRAINT "Invitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SignInSession" (
    "id" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "memberId" TEXT,
    "apiKeyId" TEXT,
    "address" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "lastUsedAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,

    CONSTRAINT "SignInSession_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Account_email_key" ON "Account"("email");

-- CreateIndex
CREATE INDEX "Member_accountId_idx" ON "Member"("accountId");

-- CreateIndex
CREATE INDEX "Member_orgId_createdAtNs_id_idx" ON "Member"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Member_orgId_accountId_key" ON "Member"("orgId", "accountId");

-- CreateIndex
CREATE INDEX "ProjectMember_memberId_idx" ON "ProjectMember"("memberId");

-- CreateIndex
CREATE UNIQUE INDEX "Invitation_tokenSha256_key" ON "Invitation"("tokenSha256");

-- CreateIndex
CREATE INDEX "Invitation_orgId_createdAtNs_id_idx" ON "Invitation"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE UNIQUE INDEX "SignInSession_tokenSha256_key" ON "SignInSession"("tokenSha256");

-- CreateIndex
CREATE INDEX "SignInSession_memberId_idx" ON "SignInSession"("memberId");

-- CreateIndex
CREATE INDEX "SignInSession_apiKeyId_idx" ON "SignInSession"("apiKeyId");

-- CreateIndex
CREATE INDEX "SignInSession_expiresAtNs_idx" ON "SignInSession"("expiresAtNs");

-- CreateIndex
CREATE INDEX "ViewLink_memberId_expiresAtNs_idx" ON "ViewLink"("memberId", "expiresAtNs");

-- AddForeignKey
ALTER TABLE "Member" ADD CONSTRAINT "Member_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Member" ADD CONSTRAINT "Member_accountId_fkey" FOREIGN KEY ("accountId") REFERENCES "Account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ProjectMember" ADD CONSTRAINT "ProjectMember_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ProjectMember" ADD CONSTRAINT "ProjectMember_memberId_fkey" FOREIGN KEY ("memberId") REFERENCES "Member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SignInSession" ADD CONSTRAINT "SignInSession_memberId_fkey" FOREIGN KEY ("memberId") REFERENCES "Member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SignInSession" ADD CONSTRAINT "SignInSession_apiKeyId_fkey" FOREIGN KEY ("apiKeyId") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ViewLink" ADD CONSTRAINT "ViewLink_memberId_fkey" FOREIGN KEY ("memberId") REFERENCES "Member"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "Member" ADD CONSTRAINT "Member_role_is_known" CHECK ("role" IN ('admin', 'user'));
ALTER TABLE "Invitation" ADD CONSTRAINT "Invitation_role_is_known" CHECK ("role" IN ('admin', 'user'));
