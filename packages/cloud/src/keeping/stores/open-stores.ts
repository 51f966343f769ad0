import type { Database } from "../../db/client.ts";
import { WrongStoreError } from "../../recovery/mark-round.ts";
import { type OpenedStore, openStore, type StoreDeps } from "../../store/bucket-uploads/open-store.ts";
import { nameStore, type StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { type Both, joinStores } from "./joined-stores.ts";
import { useOf } from "./move-state.ts";
import { findMove, moveNote, type StoreMove, sideOf } from "./store-move.ts";

interface Opening extends StoreDeps {
  readonly db: Pick<Database, "prisma" | "pool">;
}

/** Opens the store of the settings; while the objects move to another one, that is opened, too, as soon as it is needed. */
export async function openStores(
  opened: AsyncDisposableStack,
  address: StoreAddress,
  deps: Opening,
): Promise<OpenedStore> {
  const own = await openStore(opened, address, deps);
  const later = opened.use(new AsyncDisposableStack());
  const others = new Map<string, Promise<OpenedStore>>();
  const openOther = (other: StoreAddress) => {
    const name = nameStore(other);
    const store = others.get(name) ?? openStore(later, other, deps);
    others.set(name, store);
    store.catch(() => others.delete(name)); // for example a folder that is not there yet
    return store;
  };
  return joinStores(own, () => findBoth({ deps, own, address, openOther }));
}

interface Looking {
  readonly deps: Pick<Opening, "db">;
  readonly own: OpenedStore;
  readonly address: StoreAddress;
  readonly openOther: (address: StoreAddress) => Promise<OpenedStore>;
}

/** Throws a {@link WrongStoreError} if the settings name a store that may not be used now. */
async function findBoth({ deps, own, address, openOther }: Looking): Promise<Both | undefined> {
  const move = await findMove(deps.db);
  if (!move) return undefined;
  const side = await sideNow(move, { own, address });
  if (side === "alone") return undefined;
  const other = await openOther(side === "source" ? move.target : move.source);
  return side === "source" ? { source: own, target: other, other } : { source: other, target: own, other };
}

/** Throws a {@link WrongStoreError} unless a process with these settings may work now. */
export async function requireRightStore(
  db: Pick<Database, "pool">,
  own: Pick<OpenedStore, "getNote">,
  address: StoreAddress,
): Promise<void> {
  const move = await findMove(db);
  if (move) await sideNow(move, { own, address });
}

async function sideNow(
  move: StoreMove,
  { own, address }: { own: Pick<OpenedStore, "getNote">; address: StoreAddress },
): Promise<"alone" | "source" | "target"> {
  const [source, target] = [nameStore(move.source), nameStore(move.target)];
  const side = sideOf(move, address);
  if (!side)
    throw new WrongStoreError(
      `the objects move from ${source} to ${target}, and the settings name ${nameStore(address)}`,
    );
  const use = useOf(move.state, side);
  if (use === "late") throw new WrongStoreError(`the objects were moved to ${target}, and the settings name ${source}`);
  if (use === "alone") return "alone";
  // If the database was restored to a moment before the switch, the store knows better.
  if (use === "both" || (await own.getNote(moveNote(move)))) return side;
  throw new WrongStoreError(
    `the objects are not all in ${target} yet: keep ${source} in the settings until downlink admin blobs copy says that it may go`,
  );
}
