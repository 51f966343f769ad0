import type { TrainingFormat, TrainingMapping } from "@downlink/protocol";
import type { JSX } from "preact";
import { Badge } from "../parts/badge.tsx";
import { formatCount, formatMany } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatExact } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import { FeatureTable } from "./feature-table.tsx";
import type { Trial, TriedEpisode } from "./sum-up-parts.ts";
import { TopicTable } from "./topic-table.tsx";
import { outcomeOf, trimmedText } from "./training-texts.ts";
import { TriedRows } from "./tried-rows.tsx";
import { WideTable } from "./wide-table.tsx";

interface ReportProps {
  readonly trial: Trial;
  /** The mapping that was tried. */
  readonly mapping: TrainingMapping;
  readonly format: TrainingFormat;
  readonly projectId: string;
  /** The mapping was changed since. */
  readonly isOld: boolean;
}

/** Shows what a mapping makes of some episodes. */
export function TrialReport({ trial, mapping, format, projectId, isOld }: ReportProps) {
  const { episodes, task, truncated } = trial;
  if (episodes.length === 0 && !truncated) return <Empty title="No episode of the version has its data here." />;
  const rowCount = episodes.reduce((sum, one) => sum + one.rowCount, 0);
  return (
    <div class="stack report">
      <p role="status">
        {formatMany(episodes.length, "episode")} tried: {formatMany(rowCount, format === "parquet" ? "message" : "row")}
        {task !== undefined && (
          <>
            , task “<ForeignText text={task} />”
          </>
        )}
        .
      </p>
      {truncated && <p class="banner">Time was up before all of them were tried.</p>}
      {isOld && <p class="banner">The mapping was changed since: try it again.</p>}
      {format === "parquet" ? <TopicTable {...{ trial, mapping }} /> : <FeatureTable {...{ trial, mapping }} />}
      <Episodes {...{ episodes, mapping, format, projectId }} />
      {mapping.fps !== undefined && <TriedRows {...{ trial, fps: mapping.fps }} />}
    </div>
  );
}

interface EpisodesProps extends Pick<ReportProps, "mapping" | "format" | "projectId"> {
  readonly episodes: readonly TriedEpisode[];
}

function Episodes({ episodes, ...same }: EpisodesProps) {
  return (
    <WideTable title="Episodes">
      <thead>
        <tr>
          <th>Episode</th>
          <th>Outcome</th>
          <th class="number">{same.format === "parquet" ? "Messages" : "Rows"}</th>
          {same.format !== "parquet" && <th>Trimmed rows</th>}
        </tr>
      </thead>
      <tbody>
        {episodes.map((episode) => (
          <EpisodeRow key={episode.episodeId} {...same} episode={episode} />
        ))}
      </tbody>
    </WideTable>
  );
}

interface EpisodeProps extends Omit<EpisodesProps, "episodes"> {
  readonly episode: TriedEpisode;
}

function EpisodeRow({ episode, mapping, format, projectId }: EpisodeProps) {
  const { episodeId, rowCount, gaps, warnings = [] } = episode;
  const { reason, ...badge } = outcomeOf(episode, mapping);
  return (
    <tr>
      <td>
        <a href={pagePath(projectId, "episodes", episodeId)}>
          <code>{episodeId}</code>
        </a>
      </td>
      <td>
        <Badge {...badge} />
        {reason !== undefined && <> {showHidden(reason)}</>}
        {gaps.length > 0 && <Gaps gaps={gaps} />}
        {warnings.length > 0 && <Warnings warnings={warnings} />}
      </td>
      <td class="number">{formatCount(rowCount)}</td>
      {format !== "parquet" && <td>{trimmedText(episode)}</td>}
    </tr>
  );
}

/** Several may begin in one second. */
function Gaps({ gaps }: Pick<TriedEpisode, "gaps">) {
  const lines = gaps.map(({ feature, topic, start, rowCount }) => (
    <li key={`${feature} ${topic} ${start}`}>
      {formatMany(rowCount, "row")} without <ForeignText text={feature} /> (<ForeignText text={topic} />) from{" "}
      {formatExact(start)}
    </li>
  ));
  return <FewLines lines={lines} thing="more gap" />;
}

function Warnings({ warnings }: Required<Pick<TriedEpisode, "warnings">>) {
  const lines = warnings.map(({ check, feature, text }) => (
    <li key={`${check} ${feature} ${text}`}>
      <Badge sign="▲" tone="warn" text="odd:" /> {showHidden(text)}
    </li>
  ));
  return <FewLines lines={lines} thing="more warning" />;
}

const FEW = 1;

/** Shows the first line, and the others on demand. */
function FewLines({ lines, thing }: { lines: readonly JSX.Element[]; thing: string }) {
  return (
    <>
      <ul class="muted">{lines.slice(0, FEW)}</ul>
      {lines.length > FEW && (
        <details>
          <summary>{formatMany(lines.length - FEW, thing)}</summary>
          <ul class="muted">{lines.slice(FEW)}</ul>
        </details>
      )}
    </>
  );
}
