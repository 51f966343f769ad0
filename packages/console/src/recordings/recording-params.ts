import { choiceParam, listParam, timeParam } from "../url/params.ts";

export const TABS = ["preview", "overview", "attachments", "history"] as const;

/** The parameters in the address of a recording. */
export const recordingParams = {
  /** Without a tab, a recording whose messages are here opens on them. */
  tab: choiceParam(["", ...TABS], ""),
  from: timeParam,
  /** The moment that is looked at first; absent: the first one. */
  at: timeParam,
  to: timeParam,
  topics: listParam,
  lines: listParam,
};
