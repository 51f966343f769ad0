import type { Webhook } from "@downlink/protocol";
import { Badge } from "../../parts/badge.tsx";

export function WebhookState({ webhook: { enabled, disabledReason, failingSince } }: { webhook: Webhook }) {
  if (!enabled) return <Badge sign="○" tone="warn" text="disabled" title={disabledReason} />;
  if (failingSince !== undefined) return <Badge sign="▲" tone="failed" text="failing" />;
  return <Badge sign="●" tone="good" text="on" />;
}
