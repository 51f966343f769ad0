-- The states that the schema names are those that the column takes.
ALTER TABLE "Adoption" ADD CONSTRAINT "Adoption_pass_is_known"
  CHECK ("pass" IN ('ledger', 'listing', 'imported', 'rest', 'rows', 'asking', 'marking', 'over'));
