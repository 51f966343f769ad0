import type { ImportStatus } from "@downlink/protocol";
import "./badge.css";

/** The words and signs of each status. The sign says the same as the colour, for those who do not see it. */
const STATUSES: Readonly<Record<ImportStatus, { readonly text: string; readonly sign: string; readonly tone: Tone }>> =
  {
    none: { text: "on the device", sign: "▨", tone: "edge" },
    pending: { text: "requested", sign: "◔", tone: "moving" },
    importing: { text: "processing", sign: "◕", tone: "moving" },
    complete: { text: "imported", sign: "■", tone: "imported" },
    failed: { text: "failed", sign: "▲", tone: "failed" },
  };

export type Tone = "edge" | "moving" | "imported" | "failed" | "good" | "warn" | "plain";

export function statusText(status: ImportStatus): string {
  return STATUSES[status].text;
}

interface StatusBadgeProps {
  readonly status: ImportStatus;
  /** The stored data is not what was imported. */
  readonly isDamaged?: boolean;
}

export function StatusBadge({ status, isDamaged = false }: StatusBadgeProps) {
  const isAtRest = status === "complete" || status === "failed";
  const { text, sign, tone } = isDamaged && isAtRest ? { ...STATUSES.failed, text: "damaged" } : STATUSES[status];
  return <Badge {...{ text, sign, tone }} />;
}

interface BadgeProps {
  readonly text: string;
  readonly sign?: string;
  readonly tone?: Tone;
  readonly title?: string | undefined;
}

export function Badge({ text, sign, tone = "plain", title }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {sign && <span aria-hidden="true">{sign}</span>}
      {text}
    </span>
  );
}
