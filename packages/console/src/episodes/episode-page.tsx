import { type Episode, episodes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { ExportDialog } from "../export/export-dialog.tsx";
import { OpenButton } from "../export/open-button.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Pictures } from "../parts/picture-at.tsx";
import { ZonedTime } from "../parts/time.tsx";
import { formatDuration } from "../time/format-time.ts";
import { minuteText } from "../time/zone.ts";
import { pagePath, useProjectId } from "../url/project.ts";

/** Shows one episode: a slice of time of some recordings. It never changes. */
export function EpisodePage() {
  const projectId = useProjectId()!;
  const id = useRoute().params.id!;
  const { data: episode, failure, again } = useQuery(episodes.get, { id, include: ["recordings", "creationContext"] });
  if (failure && !episode) return <Failed {...{ failure, again }} />;
  if (!episode) return null;
  return (
    <div class="stack">
      <Header {...{ episode, projectId }} />
      <section class="card">
        <Facts
          facts={[
            ["Start", <ZonedTime timeNs={episode.startTime} />],
            ["End", <ZonedTime timeNs={episode.endTime} />],
            ["Lasts", formatDuration(episode.endTime - episode.startTime)],
            ["Made", <ZonedTime timeNs={episode.createdAt} />],
            ...Object.entries(episode.metadata as Record<string, unknown>).map(
              ([key, value]) => [key, typeof value === "object" ? JSON.stringify(value) : String(value)] as const,
            ),
            ["Id", <code>{episode.id}</code>],
          ]}
        />
      </section>
      <Recordings {...{ episode, projectId }} />
    </div>
  );
}

function Header({ episode, projectId }: { episode: Episode; projectId: string }) {
  const { id, startTime, endTime } = episode;
  const { data: me } = useMe();
  const { route } = useLocation();
  const [open, setOpen] = useState<"export" | "delete" | undefined>();
  const close = () => setOpen(undefined);
  const source = {
    projectId,
    files: [{ name: "episode", by: { episodeId: id } }],
    span: { startNs: startTime, endNs: endTime },
    isWhole: true,
  };
  return (
    <header class="row">
      <h1>Episode of {minuteText(startTime)}</h1>
      <span class="grow" />
      <OpenButton source={source} />
      {may(me, "data.stream") && <Button text="Export…" class="primary" onClick={() => setOpen("export")} />}
      {may(me, "episodes.delete") && <Button text="Delete" class="danger" onClick={() => setOpen("delete")} />}
      {open === "export" && <ExportDialog source={source} onClose={close} />}
      {open === "delete" && (
        <DeleteDialog
          operation={episodes.delete}
          input={{ id }}
          stale={[episodes.list]}
          title="Delete the episode"
          deed="Delete"
          done="The episode was deleted."
          onClose={close}
          onDone={() => route(pagePath(projectId, "episodes"))}
        >
          <p>Its recordings stay. An episode in a version of a dataset cannot be deleted.</p>
        </DeleteDialog>
      )}
    </header>
  );
}

function Recordings({ episode, projectId }: { episode: Episode; projectId: string }) {
  const { recordings = [], startTime, endTime } = episode;
  const pictured = recordings.map((member) => {
    return { ...member, projectId, importStatus: member.available ? ("complete" as const) : ("none" as const) };
  });
  return (
    <section class="card stack">
      <h2>Recordings</h2>
      <Pictures recordings={pictured} atNs={(startTime + endTime) / 2n} />
      <ul class="stack">
        {recordings.map(({ id, path, available, resolvable }) => (
          <li key={id} class="row">
            {available ? (
              <Badge text="here" sign="■" tone="imported" />
            ) : (
              <Badge text={resolvable ? "not here" : "gone"} sign="▲" tone="warn" />
            )}
            {resolvable ? (
              <a href={pagePath(projectId, "recordings", id)}>
                <ForeignText text={path || id} />
              </a>
            ) : (
              <ForeignText text={path || id} />
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
