import { InvalidSettingError } from "./invalid-setting-error.ts";

/** Through which interfaces uploads may go. */
export interface InterfaceRules {
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

/** Parses `eth0,wlan*`, which allows only these, or `!wwan*,!metered`, which allows all others. Throws {@link InvalidSettingError}. */
export function interfaceRulesOf(text: string): InterfaceRules {
  const terms = text.split(",").map((term) => term.trim());
  const bad = terms.find((term) => !/^!?[\w.*?@-]{1,100}$/.test(term));
  if (bad !== undefined)
    throw new InvalidSettingError(`${text} is no list of interfaces such as eth0,wlan* or !wwan*,!metered`);
  return {
    allowed: terms.filter((term) => !term.startsWith("!")),
    denied: terms.filter((term) => term.startsWith("!")).map((term) => term.slice(1)),
  };
}
