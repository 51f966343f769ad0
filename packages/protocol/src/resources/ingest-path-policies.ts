import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

export const MAX_PATH_RULES = 100;
/** The longest name that an object may have, in UTF-16 code units. */
const MAX_PATTERN_CHARACTERS = 1024;

/** Fields that are not known here are kept and answered as they were given. */
const PathAction = z.looseObject({
  type: z.enum(["ignore", "import"]),
  nameTemplate: StorableText.min(1).max(MAX_PATTERN_CHARACTERS).optional().meta({
    description:
      "The name of the device whose recording it is; `{1}`, `{2}` … stand for what the pattern's wildcards matched, in their order",
    example: "robot-{1}",
  }),
});

export const IngestPathRule = z
  .looseObject({
    pattern: StorableText.min(1).max(MAX_PATTERN_CHARACTERS).meta({
      description:
        "A glob over the object's whole name: `*`, `?` and `[a-z]` stay within a segment, `**` crosses segments; letters match in their case only",
      example: "robots/*/**",
    }),
    action: PathAction,
  })
  .meta({ id: "IngestPathRule" });
export type IngestPathRule = z.infer<typeof IngestPathRule>;

const policy = {
  schemaVersion: z.literal(1),
  rules: z.array(IngestPathRule).max(MAX_PATH_RULES).meta({
    description: "The first one that matches decides; what none matches is ignored",
  }),
};

export const IngestPathPolicyRevision = z
  .object({
    revision: z.int().min(1).meta({ description: "Grows by one; the highest is current" }),
    createdAt: Timestamp,
    policy: z.object(policy),
  })
  .meta({ id: "IngestPathPolicyRevision" });
export type IngestPathPolicyRevision = z.infer<typeof IngestPathPolicyRevision>;

/** So many names of a bucket are tried at once. */
export const MAX_TRIED_NAMES = 1000;

export const TriedPolicy = z
  .object({
    objects: z.array(
      z.object({
        name: z.string(),
        rule: z.int().min(0).optional().meta({ description: "The rule that decides, from 0 on; absent: none matches" }),
        type: z.enum(["ignore", "import"]),
        deviceName: z.string().optional().meta({ description: "As the rule's template names it" }),
        problem: z.string().optional().meta({ description: "Why the import would fail, as far as the name tells" }),
      }),
    ),
    isComplete: z.boolean().meta({ description: `False: the bucket has more than these ${MAX_TRIED_NAMES}` }),
  })
  .meta({ id: "TriedPolicy" });
export type TriedPolicy = z.infer<typeof TriedPolicy>;

const params = z.object({ id: Id });

/** The rules for the objects in a customer's bucket: each is imported or ignored by its name. */
export const ingestPathPolicies = {
  get: operation({
    method: "get",
    path: "/v1/sites/{id}/ingest-path-policy",
    access: apiKey("sites.list", "organization"),
    summary: "Get the latest ingest path policy of a bring-your-own-bucket site",
    description: "404 on sites of other types, and while none was ever saved: then every object is imported.",
    params,
    response: IngestPathPolicyRevision,
  }),
  save: operation({
    method: "put",
    alsoMethods: ["post", "patch"],
    path: "/v1/sites/{id}/ingest-path-policy",
    audits: "ingestPathPolicy",
    access: apiKey("sites.update", "organization"),
    summary: "Save the ingest path policy of a bring-your-own-bucket site",
    description:
      "A policy that differs from the current one becomes a new revision, unless `previousRevision` is another one than the current (409). A repeat of the current policy answers its revision. An empty list of rules ignores every object. Objects that a former policy ignored are looked at again; what was imported stays.",
    params,
    body: z.object({
      ...policy,
      previousRevision: z.int().min(0).optional().meta({ description: "0 while none was saved; absent: whichever" }),
    }),
    response: IngestPathPolicyRevision,
  }),
  tryOut: operation({
    method: "post",
    path: "/v1/sites/{id}/ingest-path-policy/try",
    unaudited: "It changes nothing",
    makes: "nothing",
    access: apiKey("sites.update", "organization"),
    isExpensive: true,
    summary: "Try a path policy on the names that a customer's bucket has now; nothing is stored",
    description: `Answers what the policy would make of the bucket's first ${MAX_TRIED_NAMES} objects. 503 \`Unavailable\` where the bucket does not answer or refuses, with the permission that is missing.`,
    params,
    body: z.object({
      schemaVersion: z.literal(1).optional(),
      rules: policy.rules.optional().meta({ description: "Absent: those that are saved" }),
    }),
    response: TriedPolicy,
  }),
};
