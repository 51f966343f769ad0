import type { CustomerBucket, FoundObject } from "../../../store/blobs/buckets/customer-bucket.ts";
import type { CustomerBuckets } from "../../../store/customer-buckets/open-buckets.ts";

/** A bucket in memory, for what would take too long with a real one, or cannot be made to happen there. */
export interface StubBucket {
  readonly buckets: CustomerBuckets;
  /** The objects by their names. */
  readonly objects: Map<string, FoundObject>;
  /** In another order than that of the bytes no listing can begin behind a name. */
  order: (one: Buffer, other: Buffer) => number;
  /** The names that were looked at, in order. */
  readonly looks: string[];
  /** Reads bytes of an object. */
  read: (name: string) => Promise<Uint8Array>;
  /** Is called before each answer, which is what the bucket had by then; what it throws is the answer. */
  fail: (verb: "check" | "find" | "list", name: string) => void | Promise<void>;
}

let tags = 0;

/** An object that differs from all others. */
export function anObject(some: Partial<FoundObject> = {}): FoundObject {
  tags += 1;
  return { versionId: null, etag: `"${tags}"`, sizeBytes: 10n, modifiedAtNs: 0n, metadata: {}, ...some };
}

export function stubBucket(pageSize = 1000): StubBucket {
  const never = () => Promise.reject(new Error("nothing reads an object here"));
  const stub: StubBucket = {
    objects: new Map(),
    order: Buffer.compare,
    looks: [],
    read: () => Promise.reject(new Error("nothing reads an object here")),
    fail: () => {},
    buckets: { open: never, stat: never, connect: async () => bucket },
  };
  const bucket: CustomerBucket = {
    async find(name) {
      stub.looks.push(name);
      const found = stub.objects.get(name);
      await stub.fail("find", name);
      return found;
    },
    async *list(after) {
      const names = [...stub.objects.keys()]
        .map((name) => Buffer.from(name))
        .sort(stub.order)
        .map(String);
      const isBehind = (name: string) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0;
      const behind = stub.order === Buffer.compare ? names.filter(isBehind) : names;
      for (let at = 0; at < behind.length; at += pageSize) {
        await stub.fail("list", behind[at]!);
        yield behind.slice(at, at + pageSize).map((name) => ({ name, ...stub.objects.get(name)! }));
      }
    },
    open: (_key, name, { sizeBytes }) => ({
      sizeBytes: Number(sizeBytes),
      read: () => stub.read(name),
      stream: () => {
        throw new Error("nothing streams an object here");
      },
      async [Symbol.asyncDispose]() {},
    }),
    async check() {
      await stub.fail("check", "");
    },
    [Symbol.dispose]: () => {},
  };
  return stub;
}
