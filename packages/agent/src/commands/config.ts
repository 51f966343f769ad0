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
import { printableAll } from "../text/printable.ts";
import { layOut } from "../text/table.ts";

export interface ShownSetting {
  /** As in the environment and in the env file. */
  readonly name: string;
  /** Secrets are masked; null: not set. */
  readonly value: string | null;
  readonly from: SettingOrigin;
  /** When the running agent goes by a change of it in the file. */
  readonly takesEffect: TakesEffect;
}

/** Every effective value and where it comes from; what the control plane sets is what the state last knew of it. */
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

/** The kind and the last four characters of a token of ours; of anything else nothing. */
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
  return `${layOut([["SETTING", "VALUE", "FROM", "A CHANGE HOLDS"], ...rows])}\nThe file is ${configFile}.\n`;
}
