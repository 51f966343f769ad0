import { api, type CallInput, type Operation, type Output } from "@downlink/protocol";
import type { Logger } from "pino";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { type Caller, callControlPlane, RefusedError } from "./call-control-plane.ts";
import type { SiteClock } from "./site-clock.ts";
import type { SiteMemory } from "./site-memory.ts";
import type { SiteSigner } from "./site-signer.ts";
import { requireOwner, type StoreMark } from "./site-store.ts";

export interface SessionDeps {
  readonly caller: Caller;
  readonly instanceId: string;
  readonly programVersion: string;
  /** Where clients reach the site. */
  readonly publicUrl: () => string;
  readonly store: StoreMark & { readonly kind: StoreAddress["kind"] };
  /** The operator says that the store takes the place of a lost one. */
  readonly isStoreAccepted: boolean;
  readonly blobs: Pick<BlobStore, "putNote" | "getNote" | "listNotes" | "removeNote">;
  readonly memory: SiteMemory;
  readonly clock: SiteClock;
  readonly signer: SiteSigner;
  readonly log: Logger;
  readonly stopping: AbortSignal;
}

type Keys = Output<typeof api.site.work>["keys"];

/** The session of a site with its control plane: the lease, the keys and the time. */
export class SiteSession {
  readonly #deps: SessionDeps;
  #lease: number | undefined;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /** Takes the lease. Throws as {@link callControlPlane} does. */
  async hello(): Promise<void> {
    const { memory, store, publicUrl, instanceId, programVersion, blobs, log, isStoreAccepted } = this.#deps;
    const body: CallInput<typeof api.site.hello> = {
      ...{ programVersion, instanceId, url: publicUrl(), formerInstanceIds: memory.formerInstanceIds },
      store: { ...store, marks: [...store.marks], isAccepted: isStoreAccepted },
      lease: memory.facts?.lease,
    };
    const answer = await this.#send(api.site.hello, body);
    await requireOwner(blobs, answer.siteId);
    this.#deps.clock.set(answer.serverTime);
    this.#lease = answer.lease;
    const former = memory.facts?.incarnation;
    const { orgId, siteId, lease, keys, incarnation } = answer;
    await this.#keep({ orgId, siteId, lease, keys, incarnation: former ?? incarnation });
    log.info({ siteId, name: answer.name }, "connected to the control plane");
  }

  /** All that stood in the site's notes under the former incarnation is reported again, and need not be once more. */
  async enterIncarnation(incarnation: string): Promise<void> {
    await this.#keep({ ...this.#deps.memory.facts!, incarnation });
  }

  /** Makes a call under the lease. */
  call<O extends Operation>(operation: O, input: CallInput<O>, waitMs = 0): Promise<Output<O>> {
    return this.#send(operation, input, { lease: this.#lease, waitMs });
  }

  /** Uses these keys from now on, and then says so: links are signed with a key only once it is kept. */
  async useKeys(keys: Keys): Promise<void> {
    const facts = this.#deps.memory.facts!;
    const isSame = keys.length === facts.keys.length && keys.every(({ id }, at) => id === facts.keys[at]!.id);
    if (!isSame) await this.#keep({ ...facts, keys });
  }

  /** A lease that was lost is taken again by the next hello. */
  isLost(error: unknown): boolean {
    return error instanceof RefusedError && error.code === "LeaseLost";
  }

  /** The token was deleted or has expired, or the site was deleted. */
  isRefused(error: unknown): boolean {
    return error instanceof RefusedError && error.code === "Unauthenticated";
  }

  /** No link is accepted any more, also after another start, until a hello brings keys again. */
  async dropKeys(): Promise<void> {
    const { facts } = this.#deps.memory;
    if (facts && facts.keys.length > 0) await this.#keep({ ...facts, keys: [] });
  }

  async #keep(
    facts: NonNullable<SiteMemory["facts"]> | Omit<NonNullable<SiteMemory["facts"]>, "clockAheadMs">,
  ): Promise<void> {
    const { memory, clock, signer } = this.#deps;
    signer.use(facts); // at once: a revoked key opens nothing while the disk is slow
    await memory.keep({ ...facts, clockAheadMs: clock.aheadMs });
  }

  #send<O extends Operation>(
    operation: O,
    input: CallInput<O>,
    { lease, waitMs }: { lease?: number | undefined; waitMs?: number } = {},
  ): Promise<Output<O>> {
    const { caller, stopping } = this.#deps;
    return callControlPlane(caller, operation, { input, lease, waitMs, signal: stopping });
  }
}
