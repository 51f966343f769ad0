import { after, test } from "node:test";
import { withTransaction } from "../../db/transaction.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { hashToken } from "./mint.ts";
import { NotedTokenUses } from "./token-uses.ts";

const cloud = await startCloud({ after }, { works: false });
const { deps } = cloud;

test("a process that stops does not wait until somebody else releases the row of a token", async () => {
  const tokenSha256 = hashToken(cloud.adminKey);
  const uses = new NotedTokenUses(deps);
  uses.note(tokenSha256);
  // If the end waited, Postgres would end this transaction, which sends nothing meanwhile.
  await withTransaction(deps.db, async (tx) => {
    await tx.$queryRaw`SELECT 1 AS one FROM "Credential" WHERE "tokenSha256" = ${tokenSha256} FOR UPDATE`;
    await uses[Symbol.asyncDispose]();
  });
});
