import type { DatabaseSync } from "node:sqlite";
import { durableWrites } from "../durable/durable-steps.ts";

/** Named facts about the state as a whole, each a text. */
export interface FactsTable {
  read(name: string): string | undefined;
  /** Records a fact that others rely on after a crash: the fault tests see it as a durable write. */
  record(name: string, value: string): void;
  /** Notes a fact that the agent learns again where it is lost. */
  note(name: string, value: string): void;
  remove(name: string): void;
}

export function openFactsTable(database: DatabaseSync): FactsTable {
  const get = database.prepare("SELECT value FROM facts WHERE name = ?");
  const set = database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM facts WHERE name = ?");
  return {
    read: (name) => get.get(name)?.value as string | undefined,
    record: (name, value) => void durableWrites.traceSync(() => set.run(name, value), { what: "fact", name }),
    note: (name, value) => void set.run(name, value),
    remove: (name) => void remove.run(name),
  };
}
