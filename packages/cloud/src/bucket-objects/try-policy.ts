import type { Deps } from "../context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { judgeBy } from "./judge-name.ts";
import type { PathPolicy } from "./path-policies.ts";
import { requireRules } from "./path-rules.ts";

export interface Tried {
  readonly name: string;
  readonly type: "ignore" | "import";
  readonly deviceName: string | undefined;
}

/** Yields what a policy would make of the objects that the bucket has now. Nothing is stored. */
export async function* tryPolicy(
  deps: Pick<Deps, "db" | "buckets">,
  siteId: string,
  policy: Pick<PathPolicy, "rules"> | undefined,
): AsyncGenerator<Tried, void> {
  if (policy) requireRules(policy.rules);
  const bucket = await deps.db.prisma.siteBucket.findUnique({ where: { siteId } });
  if (!bucket) throw new CommandError(`site ${siteId} is no bring-your-own-bucket site`);
  const judge = judgeBy(policy);
  const connection = await deps.buckets.connect(bucket);
  for await (const page of connection.list(""))
    for (const { name } of page) {
      const judgement = judge(name);
      yield { name, type: judgement.type, deviceName: "deviceName" in judgement ? judgement.deviceName : undefined };
    }
}
