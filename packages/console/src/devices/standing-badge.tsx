import type { Device } from "@downlink/protocol";
import { Badge, type Tone } from "../parts/badge.tsx";
import { type Standing, standingOf } from "./device-facts.ts";

const STANDINGS: Readonly<Record<Standing, { readonly sign: string; readonly text: string; readonly tone: Tone }>> = {
  never: { sign: "◌", text: "never seen", tone: "edge" },
  cloned: { sign: "▲", text: "cloned", tone: "failed" },
  disabled: { sign: "⊘", text: "disabled", tone: "edge" },
  silent: { sign: "○", text: "silent", tone: "warn" },
  troubled: { sign: "◆", text: "trouble", tone: "warn" },
  well: { sign: "●", text: "online", tone: "good" },
};

interface BadgeProps {
  readonly device: Pick<Device, "agent" | "enabled">;
  /** A text that says more than the badge's own word. */
  readonly text?: string;
}

export function StandingBadge({ device, text }: BadgeProps) {
  const standing = STANDINGS[standingOf(device)];
  return <Badge {...standing} text={text ?? standing.text} />;
}
