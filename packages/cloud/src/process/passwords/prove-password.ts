// Passwords are checked by turns, address by address, and of one address account by account, so that a stranger fills only their own share.
// Tries that fail are counted (`failed-tries.ts`). Neither an account nor an address is ever locked, so that no client can lock a user out.

import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { ApiError } from "../../core/errors.ts";
import type { Database } from "../../db/client.ts";
import type { AccountModel } from "../../db/generated/models.ts";
import type { Turns } from "../limits/turns.ts";
import { addTries, type Count, readTries, takeTriesBack } from "./failed-tries.ts";
import type { Passwords } from "./passwords.ts";

const SECOND_NS = 1_000_000_000n;
const WINDOW_NS = 600n * SECOND_NS;
/** An account that failed so often from one address is refused there until the counted minutes end. */
const TRIES_FROM_ONE_ADDRESS = 10;
const TRIES_AS_MEMBER = 3;
/** An account that failed so often from everywhere is delayed a little. */
const TRIES_BEFORE_DELAY = 30;
const DELAY_MS = 1000;
/** An address that failed so often, for many accounts, is slowed down; so many more failures double the time between two tries. */
const TRIES_BEFORE_PACE = 30;
const TRIES_A_STEP = 10;
const LONGEST_PACE_SECONDS = 30;
/** How many members may try from an address that is slowed down, in how many seconds. */
const MEMBERS_PACE = { most: 10, seconds: 10 };
/** So many accounts of one address are tried, the oldest first. */
export const MOST_ACCOUNTS = 5;
/** How long a try waits in the line of members, and when refusals of the line of strangers are sent. */
const MEMBER_WAIT_MS = 1500;
const REFUSED_AFTER_MS = 2000;

/** Whose password is tried, and from where; of IPv6 the /64. */
export interface Try {
  readonly email: string;
  readonly address: string;
  /** The password is to be that of this account, and of no other one with the address. */
  readonly accountId?: string;
}

interface Prover {
  readonly db: Pick<Database, "prisma" | "pool">;
  readonly clock: Clock;
  readonly passwords: Passwords;
  readonly turns: Pick<Turns, "passwords">;
  goneSignal(): AbortSignal;
}

/**
 * Each address has two lines: one for whatever e-mail address is typed, and one for members, which are accounts that exist and of which no
 * more than two tries have failed from there. So a flood of made-up e-mail addresses does not hold up a member behind the same proxy.
 */
type Line = "strangers" | "members";

interface Trial {
  readonly prover: Prover;
  readonly tried: Try;
  readonly password: string;
  readonly accounts: readonly AccountModel[];
  readonly gone: AbortSignal;
  /** One try is counted once, in whichever line its turn comes first. */
  counted?: Promise<Count[]>;
}

/**
 * Returns the account whose password this is; undefined if there is none, after the same work. The try is counted. Throws `RateLimited` if
 * too many failed before or wait, and the signal's reason.
 */
export async function provePassword(prover: Prover, tried: Try, password: string): Promise<AccountModel | undefined> {
  const { db, clock } = prover;
  const [accounts, [ofPair, ofAccount, ofAddress]] = await Promise.all([
    findAccounts(db, tried),
    readTries(db, { keys: keysOf(tried), nowNs: clock.nowNs() }),
  ]);
  if (ofPair!.count >= TRIES_FROM_ONE_ADDRESS) throw newTriedError(prover, ofPair!);
  const gone = prover.goneSignal();
  if (ofAccount!.count >= TRIES_BEFORE_DELAY) await delay(DELAY_MS, undefined, { signal: gone });
  const trial = { prover, tried, password, accounts, gone };
  const isMember = accounts.length > 0 && ofPair!.count < TRIES_AS_MEMBER;
  const isCrowded = prover.turns.passwords.countOf(ownerOf(tried, "strangers")) > 0;
  const usesBoth = isMember && (isCrowded || ofAddress!.count >= TRIES_BEFORE_PACE);
  const account = await refuseLate(gone, () =>
    usesBoth ? tryInBothLines(trial) : tryInLine(trial, "strangers", gone),
  );
  if (account) await takeTriesBack(db, { keys: keysOf(tried), nowNs: clock.nowNs() });
  return account;
}

/** An account has its own password, and several may have one address. An account without a password is not tried. */
function findAccounts({ prisma }: Prover["db"], { email, accountId: id }: Try): Promise<AccountModel[]> {
  const where = { email, passwordHash: { not: null }, ...(id !== undefined && { id }) };
  return prisma.account.findMany({ where, orderBy: { createdAtNs: "asc" }, take: MOST_ACCOUNTS });
}

/** Hashes the new password of a person who holds a link for it, or has proven the old one: they stand in the line of members. */
export async function hashInTurn(prover: Omit<Prover, "db" | "clock">, tried: Try, password: string): Promise<string> {
  const taker = { owner: ownerOf(tried, "members"), token: tried.email };
  using _turn = await prover.turns.passwords.take(taker, () => prover.goneSignal());
  return await prover.passwords.hash(password);
}

function keysOf({ email, address }: Try): string[] {
  return [`try ${address} ${email}`, `account ${email}`, `address ${address}`];
}

function ownerOf({ address }: Try, line: Line): string {
  return `${address} ${line}`;
}

async function refuseLate<T>(gone: AbortSignal, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await delay(Math.max(0, startedMs + REFUSED_AFTER_MS - performance.now()), undefined, { signal: gone });
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.code === "RateLimited";
}

/**
 * Which accounts exist stays hidden: a member's try stands in both lines, and if its password is wrong, it is answered as the line of
 * strangers would have answered it, at that time. Refusals there come no sooner than a try in the line of members takes.
 */
async function tryInBothLines(trial: Trial): Promise<AccountModel | undefined> {
  const left = new AbortController();
  const asStranger = tryInLine(trial, "strangers", AbortSignal.any([trial.gone, left.signal]));
  asStranger.catch(() => {}); // it is not awaited if the password is right
  const late = AbortSignal.timeout(MEMBER_WAIT_MS);
  const asMember = tryInLine(trial, "members", AbortSignal.any([trial.gone, late])).catch((error: unknown) => {
    if (isRefusal(error) || error === late.reason) return undefined;
    throw error;
  });
  const account = await asMember;
  if (!account) return asStranger;
  left.abort();
  return account;
}

async function tryInLine(trial: Trial, line: Line, signal: AbortSignal): Promise<AccountModel | undefined> {
  const { prover, tried, password, accounts } = trial;
  const { db, clock, passwords, turns } = prover;
  using _turn = await turns.passwords.take({ owner: ownerOf(tried, line), token: tried.email }, () => signal);
  await keepPace(trial, line);
  trial.counted ??= addTries(db, { keys: keysOf(tried), nowNs: clock.nowNs(), lifeNs: WINDOW_NS });
  const [ofPair] = await trial.counted;
  if (ofPair!.count > TRIES_FROM_ONE_ADDRESS) throw newTriedError(prover, ofPair!);
  if (accounts.length === 0) await passwords.matches(password, undefined); // it takes as long as with an account
  for (const account of accounts) if (await passwords.matches(password, account.passwordHash)) return account;
  return undefined;
}

/** Refuses a try from an address that is slowed down, if it comes too soon after another one. */
async function keepPace({ prover: { db, clock }, tried }: Trial, line: Line): Promise<void> {
  const nowNs = clock.nowNs();
  const [, , ofAddress] = await readTries(db, { keys: keysOf(tried), nowNs });
  const excess = ofAddress!.count - TRIES_BEFORE_PACE;
  if (excess < 0) return;
  const strangersSeconds = Math.min(LONGEST_PACE_SECONDS, 2 ** Math.floor(excess / TRIES_A_STEP));
  const { most, seconds } = line === "members" ? MEMBERS_PACE : { most: 1, seconds: strangersSeconds };
  const keys = [`pace ${ownerOf(tried, line)}`];
  const [inPace] = await addTries(db, { keys, nowNs, lifeNs: BigInt(seconds) * SECOND_NS });
  if (inPace!.count > most) throw newTooManyError("from this address", inPace!.endsAtNs - nowNs);
}

function newTriedError({ clock }: Prover, { endsAtNs }: Count): ApiError {
  return newTooManyError("for this e-mail address", endsAtNs - clock.nowNs());
}

function newTooManyError(where: string, waitNs: bigint): ApiError {
  const retryAfterSeconds = Math.max(1, Math.ceil(Number(waitNs) / 1e9));
  const message = `too many passwords were tried ${where}; wait ${retryAfterSeconds} s`;
  return new ApiError("RateLimited", message, { retryAfterSeconds });
}
