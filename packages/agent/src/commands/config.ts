import { printableAll } from "@downlink/terminal/printable";
import { layOut } from "@downlink/terminal/table";
import { maskTokens } from "../diagnostics/log.ts";
import {
  DEFAULT_FILE,
  loadSettings,
  type ResolvedSetting,
  resolveSettings,
  type SettingOrigin,
  type SettingSources,
  type TakesEffect,
} from "../settings/settings.ts";
import { readCloudSettings } from "../state/cloud-settings.ts";
import { openDatabaseToRead } from "../state/database.ts";

export interface ShownSetting {
  /** Its name in the environment and in the env file. */
  readonly name: string;
  /** The value with masked secrets; null where it is not set. */
  readonly value: string | null;
  readonly from: SettingOrigin;
  /** When a change in the file takes effect in the running agent. */
  readonly takesEffect: TakesEffect;
}

/** Lists every effective value with its origin. Settings of the control plane are those that the state knew last. */
export function listSettings(sources: SettingSources): ShownSetting[] {
  using database = openDatabaseToRead(loadSettings(sources));
  const cloud = database && textsOf(readCloudSettings(database));
  return resolveSettings({ ...sources, cloud }).map(toShown);
}

function textsOf({ autoImport, uploadRate, uploadConcurrency }: ReturnType<typeof readCloudSettings>) {
  return { autoImport: autoImport?.join(","), uploadRate, uploadConcurrency: uploadConcurrency?.toString() };
}

function toShown({ key, text, origin, takesEffect, isSecret, secrets }: ResolvedSetting): ShownSetting {
  const conceal = isSecret
    ? mask
    : (open: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "…"), open);
  const shown = text === undefined ? undefined : conceal(text);
  return { name: key, value: shown ?? null, from: origin, takesEffect };
}

/** Shows the kind and the last four characters of Downlink's own tokens, and nothing of other secrets. */
function mask(text: string): string {
  const masked = maskTokens(text);
  return masked === text ? "…" : masked;
}

export function renderSettings(settings: readonly ShownSetting[], configFile = DEFAULT_FILE): string {
  const rows = printableAll(settings).map(({ name, value, from, takesEffect }) => [
    name,
    value ?? "",
    from,
    takesEffect,
  ]);
  return `${layOut([["SETTING", "VALUE", "FROM", "TAKES EFFECT"], ...rows])}\nThe file is ${configFile}.\n`;
}
