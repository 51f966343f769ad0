import { type Capability, capabilities } from "@downlink/protocol";

export const VERBS = ["list", "create", "update", "delete"] as const;
export type Verb = (typeof VERBS)[number];

export interface CapabilityGroup {
  readonly resource: string;
  readonly byVerb: Readonly<Partial<Record<Verb, Capability>>>;
}

/** The capabilities of data are none of these verbs: each is a line of its own, in the column of what it does. */
const SPECIAL: Readonly<Partial<Record<Capability, readonly [resource: string, verb: Verb]>>> = {
  "data.stream": ["Data: download and view", "list"],
  "data.upload": ["Data: upload, and ask devices for it", "create"],
};

/** All that a key may be allowed, as lines of a matrix: one for each resource, with what can be done to it. */
export const capabilityGroups: readonly CapabilityGroup[] = group();

function group(): CapabilityGroup[] {
  const groups = new Map<string, Partial<Record<Verb, Capability>>>();
  for (const capability of capabilities) {
    const [resource, verb] = SPECIAL[capability] ?? split(capability);
    groups.set(resource, { ...groups.get(resource), [verb]: capability });
  }
  return [...groups]
    .map(([resource, byVerb]) => ({ resource, byVerb }))
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
}

function split(capability: Capability): readonly [string, Verb] {
  const at = capability.lastIndexOf(".");
  return [toWords(capability.slice(0, at)), capability.slice(at + 1) as Verb];
}

/** Turns `data.imports.pending` into `Data: imports pending`, and `apiKeys` into `Api keys`. */
function toWords(resource: string): string {
  const [first = "", ...rest] = resource.split(".");
  const words = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const begun = first.charAt(0).toUpperCase() + words(first.slice(1));
  return rest.length === 0 ? begun : `${begun}: ${rest.map(words).join(" ")}`;
}

export const PRESETS = ["read", "upload", "full"] as const;
export type Preset = (typeof PRESETS)[number];

export const PRESET_NAMES: Readonly<Record<Preset, string>> = {
  read: "Read only",
  upload: "Uploader",
  full: "Everything",
};

/** Returns the capabilities of a usual set. Reading is all data, and neither keys nor people; uploading is for a script on a robot. */
export function presetOf(preset: Exclude<Preset, "full">): readonly Capability[] {
  if (preset === "upload") return ["data.upload", "data.imports.pending.list", "devices.list", "projects.list"];
  const administrative = /^(apiKeys|audit|deviceTokens|members|siteTokens|webhooks|viewLinks)\./;
  return capabilities.filter((one) => (one.endsWith(".list") && !administrative.test(one)) || one === "data.stream");
}
