import { FairTurns, type TurnLimits } from "./fair-turns.ts";

/** The resources of one process that are shared by turns, and between whom. */
export interface Turns {
  /**
   * Every call, shared between tokens: a token that calls 200 times at once waits for itself. The turn is taken before the database is
   * asked whose the token is.
   */
  readonly calls: FairTurns;
  /**
   * The calls of agents, which wait for each other anyway, because each of them needs the lease. A waiting poll has given back its turn.
   */
  readonly agents: FairTurns;
  /** Calls that read many rows, shared between organizations, as are the following ones. */
  readonly lists: FairTurns;
  /** Downloads by one link. The turn is taken before the selection of the link is read, which may be large. */
  readonly links: FairTurns;
  /**
   * The exports of an organization, which wait link by link. Those that their clients do not read count, too, because each holds memory.
   */
  readonly exports: FairTurns;
  /** The exports that clients read at this moment, of all organizations together. */
  readonly readExports: FairTurns;
  /** Each piece of an export takes a turn, because making it needs the processor; an export that its client does not read takes none. */
  readonly exportSteps: FairTurns;
  /** Threads that try or draft mappings of training sets. */
  readonly trials: FairTurns;
  /** The thread that decodes large bodies. */
  readonly bodies: FairTurns;
  /** Files and parts of files, while they are received. */
  readonly uploads: FairTurns;
  /** Packages of the agent, while they are sent; shared between addresses, because their callers have no token. */
  readonly packages: FairTurns;
  /** The hashing of passwords, which needs memory and a thread; shared between addresses, and of one address between accounts. */
  readonly passwords: FairTurns;
  /** The calls at the provider of OpenID Connect, shared between addresses. */
  readonly provider: FairTurns;
}

export const turnLimits: Readonly<Record<keyof Turns, TurnLimits>> = {
  calls: { atOnce: Number.POSITIVE_INFINITY, perOwner: 8, alone: 64, waiting: 500, waitMs: 30_000 },
  agents: { atOnce: Number.POSITIVE_INFINITY, perOwner: 2, waiting: 500, waitMs: 30_000 },
  lists: { atOnce: 16, perOwner: 8, perToken: 6, alone: 12, waiting: 500, waitMs: 30_000 },
  links: { atOnce: Number.POSITIVE_INFINITY, perOwner: 4, waiting: 16, waitMs: 30_000 },
  exports: { atOnce: Number.POSITIVE_INFINITY, perOwner: 8, perToken: 2, waiting: 64, waitMs: 30_000 },
  readExports: { atOnce: 24, perOwner: 8, waiting: 64, waitMs: 30_000 },
  exportSteps: { atOnce: 2, perOwner: 1, waiting: Number.POSITIVE_INFINITY, waitMs: 300_000 },
  trials: { atOnce: 3, perOwner: 2, waiting: 16, waitMs: 60_000 },
  bodies: { atOnce: 1, perOwner: 1, waiting: 64, waitMs: 30_000 },
  uploads: { atOnce: 512, perOwner: 256, waiting: 1000, waitMs: 30_000 },
  packages: { atOnce: Number.POSITIVE_INFINITY, perOwner: 16, waiting: 256, waitMs: 60_000 },
  passwords: { atOnce: 2, perOwner: 1, waiting: 20, waitingPerToken: 5, waitMs: 30_000, code: "RateLimited" },
  provider: { atOnce: 20, perOwner: 4, waiting: 20, waitMs: 30_000, code: "RateLimited" },
};

export function createTurns(limits: Readonly<Record<keyof Turns, TurnLimits>>): Turns {
  return {
    calls: new FairTurns("calls of one token", limits.calls),
    agents: new FairTurns("calls of one agent", limits.agents),
    lists: new FairTurns("large reads", limits.lists),
    links: new FairTurns("downloads by this link", limits.links),
    exports: new FairTurns("exports", limits.exports),
    readExports: new FairTurns("exports", limits.readExports),
    exportSteps: new FairTurns("steps of exports", limits.exportSteps),
    trials: new FairTurns("trials of mappings", limits.trials),
    bodies: new FairTurns("large bodies", limits.bodies),
    uploads: new FairTurns("uploads", limits.uploads),
    packages: new FairTurns("downloads of packages", limits.packages),
    passwords: new FairTurns("sign-ins", limits.passwords),
    provider: new FairTurns("sign-ins", limits.provider),
  };
}
