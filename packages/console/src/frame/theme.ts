import { signal } from "@preact/signals";
import { keep, readKept } from "../browser/kept.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];
export const THEME_NAMES: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" };

export const theme = signal<Theme>(THEMES.find((known) => known === readKept("theme")) ?? "system");

export function followTheme(): void {
  theme.subscribe((chosen) => {
    if (chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  });
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  keep("theme", chosen);
}
