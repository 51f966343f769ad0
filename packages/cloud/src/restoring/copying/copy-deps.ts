import type { Database } from "../../db/client.ts";
import type { MarkDeps } from "../../import-life/mark-damaged.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";
import type { StoreAddress } from "../../store/bucket-uploads/store-address.ts";

/** The stores, services and functions that each step of a move works with. */
export interface CopyDeps extends MarkDeps {
  readonly db: Pick<Database, "pool" | "prisma">;
  readonly source: OpenedStore;
  readonly target: OpenedStore;
  /** The store that the command's own settings name; undefined where another process copies. */
  readonly self: StoreAddress | undefined;
  /** Compares database and store, and writes the next mark: without it nothing is destroyed. */
  readonly confirm: () => Promise<void>;
  /** Aborted when the command is told to stop. */
  readonly signal: AbortSignal;
  /** Prints a line. */
  readonly write: (line: string) => void;
}
