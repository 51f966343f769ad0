-- CreateTable
CREATE TABLE "PasswordReset" (
    "accountId" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,

    CONSTRAINT "PasswordReset_pkey" PRIMARY KEY ("accountId")
);

-- CreateIndex
CREATE UNIQUE INDEX "PasswordReset_tokenSha256_key" ON "PasswordReset"("tokenSha256");

-- CreateIndex
CREATE INDEX "PasswordReset_expiresAtNs_idx" ON "PasswordReset"("expiresAtNs");

-- AddForeignKey
ALTER TABLE "PasswordReset" ADD CONSTRAINT "PasswordReset_accountId_fkey" FOREIGN KEY ("accountId") REFERENCES "Account"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A password that was replaced opens nothing after a restore: the account has none then, until an admin gives its holder a link. The ledger
-- has no hash, which goes nowhere else.
CREATE FUNCTION downlink_note_password() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Account.update', NEW."id", jsonb_build_object('id', NEW."id", 'passwordHash', NULL));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "Account_password_ledger" AFTER UPDATE ON "Account" FOR EACH ROW
  WHEN (NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash") EXECUTE FUNCTION downlink_note_password();
