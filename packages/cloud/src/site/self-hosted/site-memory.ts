import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { readTextIfThere, syncDirectory } from "../../store/blobs/durable-file.ts";

const SiteFacts = z.object({
  orgId: z.string(),
  siteId: z.string(),
  /** The last lease that this folder held. */
  lease: z.int(),
  /** The keys whose links are accepted, as the control plane gave them. */
  keys: z.array(z.object({ id: z.string(), secret: z.string() })),
  /** How far the control plane's clock was ahead of this machine's, in milliseconds. */
  clockAheadMs: z.number(),
  incarnation: z.string(),
});
/** The facts that a site knows of the control plane, so that it can serve without it. */
export type SiteFacts = z.infer<typeof SiteFacts>;

const Memory = z.object({ instanceIds: z.array(z.string()), facts: SiteFacts.optional() });
type Memory = z.infer<typeof Memory>;

const FILE = "site.json";
const MOST_INSTANCES = 8;

/** The state that the process of a site keeps in its data folder. It holds secrets, so only its owner may read it. */
export class SiteMemory {
  readonly #dir: string;
  readonly #instanceId: string;
  #memory: Memory;
  #writing: Promise<void> = Promise.resolve();

  private constructor(dir: string, memory: Memory, instanceId: string) {
    this.#dir = dir;
    this.#memory = memory;
    this.#instanceId = instanceId;
  }

  /** Reads the folder's file, and notes durably that this process uses it. */
  static async open(dir: string, instanceId: string): Promise<SiteMemory> {
    const text = await readTextIfThere(join(dir, FILE));
    const memory = text === undefined ? { instanceIds: [] } : Memory.parse(JSON.parse(text));
    const instanceIds = [...memory.instanceIds, instanceId].slice(-MOST_INSTANCES - 1);
    const opened = new SiteMemory(dir, memory, instanceId);
    await opened.#write({ ...memory, instanceIds });
    return opened;
  }

  get facts(): SiteFacts | undefined {
    return this.#memory.facts;
  }

  /** The processes that used this folder before: one of them may hold a lease whose answer was lost. */
  get formerInstanceIds(): string[] {
    return this.#memory.instanceIds.filter((id) => id !== this.#instanceId).slice(-MOST_INSTANCES);
  }

  /** Keeps the facts durably. */
  async keep(facts: SiteFacts): Promise<void> {
    await this.#write({ ...this.#memory, facts });
  }

  /** One write comes after the other, so that the last one stays. */
  #write(memory: Memory): Promise<void> {
    this.#memory = memory;
    this.#writing = this.#writing.catch(() => {}).then(() => replaceFile(this.#dir, JSON.stringify(memory)));
    return this.#writing;
  }
}

async function replaceFile(dir: string, text: string): Promise<void> {
  const temporary = join(dir, `${FILE}.new`);
  {
    await using file = await open(temporary, "w", 0o600);
    await file.chmod(0o600);
    await file.writeFile(text);
    await file.sync();
  }
  await rename(temporary, join(dir, FILE));
  await syncDirectory(dir);
}
