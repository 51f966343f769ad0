import type { SiteType } from "@downlink/protocol";

/** The name and the purpose of each type of site. */
export const SITE_TYPES: Readonly<Record<SiteType, { readonly name: string; readonly meaning: string }>> = {
  "service-hosted": { name: "Service-hosted", meaning: "The store of this service itself." },
  "self-hosted": {
    name: "Self-hosted",
    meaning: "A store of your own, in front of which a process of Downlink runs. The bytes never pass this service.",
  },
  edge: { name: "Edge", meaning: "A machine near the robots, whose agent watches their files and uploads them." },
  byob: { name: "Your bucket", meaning: "A bucket of yours, in which files arrive by themselves." },
};
