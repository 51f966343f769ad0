import { type Device, recordings } from "@downlink/protocol";
import { FOLLOWED_POLL_MS } from "../api/can-follow.ts";
import { useQuery } from "../api/use-query.ts";
import { isIn, TROUBLE_WORDS, TROUBLES, type Trouble } from "../fleet/troubles.ts";
import { formatCount } from "../parts/bytes.ts";
import { pagePath } from "../url/project.ts";

interface AttentionProps {
  readonly projectId: string;
  /** The devices that are shown. */
  readonly devices: readonly Device[];
  /** The part of the name that they have; empty for all. */
  readonly name: string;
}

function addressOf(projectId: string, show: Trouble, name: string): string {
  return `${pagePath(projectId, "devices")}?${new URLSearchParams({ show, ...(name && { q: name }) })}`;
}

/** Lists what needs attention, each with a link to where it can be dealt with. Nothing when all is well. */
export function Attention({ projectId, devices, name }: AttentionProps) {
  const { data } = useQuery(
    recordings.summarize,
    { projectId, importStatus: ["failed"] },
    { pollMs: FOLLOWED_POLL_MS },
  );
  const failed = data?.count ?? 0;
  const notes = [
    ...TROUBLES.map((trouble) => {
      const count = devices.filter((device) => isIn(trouble, device)).length;
      return {
        kind: trouble as string,
        count,
        text: TROUBLE_WORDS[trouble],
        href: addressOf(projectId, trouble, name),
      };
    }),
    {
      kind: "failed",
      count: failed,
      text: failed === 1 ? "import failed" : "imports failed",
      href: `${pagePath(projectId, "recordings")}?status=failed`,
    },
  ].filter(({ count }) => count > 0);
  if (notes.length === 0) return null;
  return (
    <ul class="attention" aria-label="Needs attention">
      {notes.map(({ kind, count, text, href }) => (
        <li key={kind}>
          <a href={href} {...(kind === "failed" ? { class: "is-failed" } : {})}>
            {formatCount(count)} {text}
          </a>
        </li>
      ))}
    </ul>
  );
}
