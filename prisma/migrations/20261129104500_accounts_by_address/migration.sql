-- DropIndex
DROP INDEX "Account_email_key";

-- CreateIndex
CREATE INDEX "Account_email_idx" ON "Account"("email");
