/** The failures that clients see while processes are killed: which client, and after which kill. */
export interface Tally {
  /** From now on failures count for this kill. A client may see one failed request of it, and none if it is gentle. */
  nextKill(name: string, isGentle?: boolean): void;
  fail(client: string, story: string): void;
  succeed(client: string): void;
  /** Returns what breaks the promise: a client that saw more failed requests of one kill than it may. */
  excesses(): readonly string[];
  /** Returns all failures. */
  failures(): readonly string[];
  /** By their name: how many they were, and the failed requests of all of them, and of the worst one, of all clients together. */
  readonly kills: ReadonlyMap<string, { readonly times: number; readonly failed: number; readonly most: number }>;
  readonly clients: ReadonlyMap<string, { readonly done: number; readonly failed: number }>;
}

export function createTally(): Tally {
  let kill = { name: "before any kill", number: 0, failed: 0, mayFail: 1 };
  const failures = new Map<string, { stories: string[]; mayFail: number }>();
  const kills = new Map<string, { times: number; failed: number; most: number }>();
  const killsOf = (name: string) => {
    const of = kills.get(name) ?? { times: 0, failed: 0, most: 0 };
    kills.set(name, of);
    return of;
  };
  const clients = new Map<string, { done: number; failed: number }>();
  const clientOf = (name: string) => {
    const client = clients.get(name) ?? { done: 0, failed: 0 };
    clients.set(name, client);
    return client;
  };
  return {
    kills,
    clients,
    nextKill(name, isGentle = false) {
      kill = { name, number: kill.number + 1, failed: 0, mayFail: isGentle ? 0 : 1 };
      killsOf(name).times += 1;
    },
    fail(client, story) {
      clientOf(client).failed += 1;
      kill.failed += 1;
      const of = killsOf(kill.name);
      of.failed += 1;
      of.most = Math.max(of.most, kill.failed);
      const place = `${client}, after kill ${kill.number} (${kill.name})`;
      const { stories, mayFail } = failures.get(place) ?? { stories: [], mayFail: kill.mayFail };
      failures.set(place, { stories: [...stories, story], mayFail });
    },
    succeed(client) {
      clientOf(client).done += 1;
    },
    failures: () => Array.from(failures, ([place, { stories }]) => `${place}: ${stories.join(", ")}`),
    excesses: () =>
      [...failures]
        .filter(([, { stories, mayFail }]) => stories.length > mayFail)
        .map(([place, { stories }]) => toExcess(place, stories)),
  };
}

function toExcess(place: string, stories: readonly string[]): string {
  return `${place}: ${stories.length} failed requests\n  ${stories.join("\n  ")}`;
}
