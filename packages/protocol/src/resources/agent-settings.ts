import { z } from "zod";
import { checkGlob, checkGlobs, globLimits } from "../globs/globs.ts";
import { apiKey, operation } from "../operations/operation.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { parseUploadRate } from "../shapes/upload-rate.ts";

const UploadRate = StorableText.max(1000, { abort: true }).superRefine(refusedBy(parseUploadRate)).meta({
  description:
    "`2MB/s`, `16Mbit/s`, `off`, `unlimited`, or a weekly timetable in the device's local time: `Mon-Fri 08:00-18:00 1MB/s; * 10MB/s`. The first rule that fits counts.",
  example: "Mon-Fri 08:00-18:00 1MB/s; * 10MB/s",
});

/** New globs are checked. Stored ones may come from an earlier version, which accepted other globs. */
const Globs = z
  .array(StorableText.min(1).max(globLimits.characters).superRefine(refusedBy(checkGlob)))
  .max(globLimits.globs)
  .superRefine(refusedBy(checkGlobs));

/** Turns the RangeError that a function throws into an issue of the schema. */
function refusedBy<T>(check: (value: T) => unknown) {
  return (value: T, ctx: { addIssue(issue: { code: "custom"; message: string }): void }) => {
    try {
      check(value);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      ctx.addIssue({ code: "custom", message: `cannot be used: ${error.message}` });
    }
  };
}

/**
 * The settings that an agent takes from the control plane if its own configuration does not have them. A field is absent if it is not set
 * here either.
 */
export const agentSettingFields = {
  autoImport: z.array(StorableText.min(1).max(500)).max(100).optional().meta({
    description:
      "Globs on paths below the storage root: what matches is imported without being asked for. `*`, `?`, `[a-z]`, `[^a-z]` stay within a segment, `**` crosses them, `{a,b}` is either, `\\\\` takes the next character literally, `!` in front means all but these; upper and lower case are the same. Together at most 5,000 characters",
  }),
  uploadRate: UploadRate.optional(),
  uploadConcurrency: z.int().min(1).max(16).optional().meta({ description: "Files uploaded at once" }),
};

const written = {
  ...agentSettingFields,
  autoImport: Globs.optional().meta(agentSettingFields.autoImport.meta() ?? {}),
};

export const AgentSettings = z.object(agentSettingFields).meta({ id: "AgentSettings" });
export type AgentSettings = z.infer<typeof AgentSettings>;

const ofDevice = {
  params: z.object({ nameOrId: Id.meta({ description: "A device's name or id" }) }),
  query: z.object(inProject),
};

const ofSite = { params: z.object({ id: Id.meta({ description: "An edge site's id" }) }) };

/** These operations go beyond the specification. A setting that the device itself has takes precedence. */
export const agentSettings = {
  get: operation({
    method: "get",
    path: "/v1/devices/{nameOrId}/agent-settings",
    access: apiKey("devices.list", "projects"),
    summary: "Get what is set for a device's agent",
    ...ofDevice,
    response: AgentSettings,
  }),
  put: operation({
    method: "put",
    path: "/v1/devices/{nameOrId}/agent-settings",
    audits: "agentSettings",
    access: apiKey("devices.update", "projects"),
    summary: "Set all of them; what is not sent is not set any more",
    ...ofDevice,
    body: z.object(written),
    response: AgentSettings,
  }),
  getOfSite: operation({
    method: "get",
    path: "/v1/sites/{id}/agent-settings",
    access: apiKey("sites.list", "shared"),
    summary: "Get what is set for an edge site's agent",
    ...ofSite,
    response: AgentSettings,
  }),
  putOfSite: operation({
    method: "put",
    path: "/v1/sites/{id}/agent-settings",
    audits: "agentSettings",
    access: apiKey("sites.update", "organization"),
    summary: "Set all of them for an edge site's agent; what is not sent is not set any more",
    ...ofSite,
    body: z.object(written),
    response: AgentSettings,
  }),
};
