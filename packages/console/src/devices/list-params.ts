import { TROUBLES } from "../fleet/troubles.ts";
import { choiceParam, flagParam, textParam } from "../url/params.ts";

export const SORTS = ["problems", "name", "lastSeenAt", "freeBytes"] as const;

/** The parameters in the address of the list of devices. Devices in trouble come first unless another order is asked for. */
export const listParams = {
  q: textParam,
  /** Only devices in this trouble. */
  show: choiceParam(["all", ...TROUBLES], "all"),
  sort: choiceParam(SORTS, "problems"),
  order: choiceParam(["asc", "desc"], "desc"),
  add: flagParam,
};

export const DEVICE_TABS = ["overview", "files", "settings", "tokens", "history"] as const;

export const deviceParams = { tab: choiceParam(DEVICE_TABS, "overview") };
