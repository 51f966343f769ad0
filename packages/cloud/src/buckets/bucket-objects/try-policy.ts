import { DeviceName, MAX_TRIED_NAMES, type TriedPolicy } from "@downlink/protocol";
import type { Deps } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { type Judge, judgeBy } from "./judge-name.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";
import type { PathPolicy } from "./stored-policy.ts";

type Tried = Complete<TriedPolicy["objects"][number]>;

/** Says what a policy would make of the first objects that the bucket has now, in the order of its listing. Nothing is stored. */
export async function tryPolicy(
  { buckets }: Pick<Deps, "buckets">,
  site: Pick<SiteWithPolicy, "bucket" | "judge">,
  policy: Pick<PathPolicy, "rules"> | undefined,
): Promise<Complete<TriedPolicy>> {
  const judge = policy ? judgeBy(policy) : site.judge;
  const connection = await buckets.connect(site.bucket);
  const objects: Tried[] = [];
  for await (const page of connection.list(""))
    for (const { name } of page) {
      if (objects.length === MAX_TRIED_NAMES) return { objects, isComplete: false };
      objects.push(tryName(name, judge));
    }
  return { objects, isComplete: true };
}

function tryName(name: string, judge: Judge): Tried {
  const judgement = judge(name);
  const { rule, type } = judgement;
  const deviceName = judgement.type === "import" ? judgement.deviceName : undefined;
  const isRefused = deviceName !== undefined && !DeviceName.safeParse(deviceName).success;
  const problem = isRefused ? `"${deviceName}" is no name of a device, so that the import would fail` : undefined;
  return { name, rule, type, deviceName, problem };
}
