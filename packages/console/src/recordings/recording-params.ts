import { choiceParam, listParam, timeParam } from "../url/params.ts";

export const TABS = ["overview", "preview", "attachments", "history"] as const;

/** The parameters in the address of a recording. */
export const recordingParams = {
  tab: choiceParam(TABS, "overview"),
  from: timeParam,
  to: timeParam,
  topics: listParam,
  lines: listParam,
};
