import type { Database } from "../../db/client.ts";
import type { AccountModel } from "../../db/generated/models.ts";
import type { Passwords, Try } from "./passwords.ts";

interface Prover {
  readonly db: Pick<Database, "prisma">;
  readonly passwords: Passwords;
}

/** Returns the account whose password this is; undefined if there is none, after the same work. The try is counted. */
export async function provePassword(
  { db, passwords }: Prover,
  tried: Try,
  password: string,
): Promise<AccountModel | undefined> {
  await passwords.admit(tried);
  const account = await db.prisma.account.findUnique({ where: { email: tried.email } });
  const isRight = await passwords.matches(password, account?.passwordHash).catch(async (error) => {
    await passwords.takeBack(tried); // nothing was tried
    throw error;
  });
  if (isRight && account) {
    await passwords.takeBack(tried);
    return account;
  }
  await passwords.noteFailure(tried);
  return undefined;
}
