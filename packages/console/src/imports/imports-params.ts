import { choiceParam, textParam } from "../url/params.ts";

export const TABS = ["queue", "processing", "failed", "unreadable", "done"] as const;
export type ImportsTab = (typeof TABS)[number];

/** The parameters in the address of the page of imports. `reason` is the code of what an import waits for, or why it failed. */
export const importsParams = {
  tab: choiceParam(TABS, "queue"),
  device: textParam,
  reason: textParam,
};
