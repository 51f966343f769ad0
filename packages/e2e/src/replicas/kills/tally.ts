/** The failures that clients see while processes are killed: which client, and after which kill. */
export interface Tally {
  /** From now on failures count for this kill. */
  nextKill(name: string): void;
  fail(client: string, story: string): void;
  succeed(client: string): void;
  /** Returns what breaks the promise: a client that saw more than one failed request of one kill. */
  excesses(): readonly string[];
  /** Returns all failures. */
  failures(): readonly string[];
  readonly kills: ReadonlyMap<string, number>;
  readonly clients: ReadonlyMap<string, { readonly done: number; readonly failed: number }>;
}

export function createTally(): Tally {
  let kill = "before any kill";
  let number = 0;
  const failures = new Map<string, string[]>();
  const kills = new Map<string, number>();
  const clients = new Map<string, { done: number; failed: number }>();
  const clientOf = (name: string) => {
    const client = clients.get(name) ?? { done: 0, failed: 0 };
    clients.set(name, client);
    return client;
  };
  return {
    kills,
    clients,
    nextKill(name) {
      kill = name;
      number += 1;
      kills.set(name, (kills.get(name) ?? 0) + 1);
    },
    fail(client, story) {
      clientOf(client).failed += 1;
      const place = `${client}, after kill ${number} (${kill})`;
      failures.set(place, [...(failures.get(place) ?? []), story]);
    },
    succeed(client) {
      clientOf(client).done += 1;
    },
    failures: () => Array.from(failures, ([place, stories]) => `${place}: ${stories.join(", ")}`),
    excesses: () => Array.from(failures, ([place, stories]) => toExcess(place, stories)).filter((text) => text !== ""),
  };
}

function toExcess(place: string, stories: readonly string[]): string {
  return stories.length > 1 ? `${place}: ${stories.length} failed requests\n  ${stories.join("\n  ")}` : "";
}
