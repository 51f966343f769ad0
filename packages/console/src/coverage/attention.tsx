import { type Device, recordings } from "@downlink/protocol";
import { FOLLOWED_POLL_MS } from "../api/can-follow.ts";
import { useQuery } from "../api/use-query.ts";
import { formatCount } from "../parts/bytes.ts";
import { pagePath } from "../url/project.ts";

interface AttentionProps {
  readonly projectId: string;
  readonly devices: readonly Device[];
}

/** Lists what needs attention, each with a link to where it can be dealt with. Nothing when all is well. */
export function Attention({ projectId, devices }: AttentionProps) {
  const { data } = useQuery(
    recordings.summarize,
    { projectId, importStatus: ["failed"] },
    { pollMs: FOLLOWED_POLL_MS },
  );
  const silent = devices.filter(({ agent }) => agent && !agent.online).length;
  const cloned = devices.filter(({ agent }) => agent?.cloned).length;
  const troubled = devices.filter(({ agent }) => (agent?.status?.problems.length ?? 0) > 0).length;
  const failed = data?.count ?? 0;
  const notes = [
    { count: silent, text: "silent", href: pagePath(projectId, "devices") },
    { count: cloned, text: cloned === 1 ? "agent cloned" : "agents cloned", href: pagePath(projectId, "devices") },
    { count: troubled, text: "with problems", href: pagePath(projectId, "devices") },
    {
      count: failed,
      text: failed === 1 ? "import failed" : "imports failed",
      href: `${pagePath(projectId, "recordings")}?status=failed`,
    },
  ].filter(({ count }) => count > 0);
  if (notes.length === 0) return null;
  return (
    <ul class="attention" aria-label="Needs attention">
      {notes.map(({ count, text, href }) => (
        <li key={text}>
          <a href={href} {...(text === "failed" ? { class: "is-failed" } : {})}>
            {formatCount(count)} {text}
          </a>
        </li>
      ))}
    </ul>
  );
}
