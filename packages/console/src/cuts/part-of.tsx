import { type Recording, recordings } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { describePart, nameTopics } from "../parts/cut-text.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { pagePath } from "../url/project.ts";

interface PartOfProps {
  readonly projectId: string;
  readonly cutOf: NonNullable<Recording["cutOf"]>;
}

/** Says of which recording another one is a part. The whole one may be gone. */
export function PartOf({ projectId, cutOf }: PartOfProps) {
  const { recordingId } = cutOf;
  const whole = useQuery(recordings.get, { keyOrId: recordingId, projectId });
  return (
    <p title={nameTopics(cutOf.topics)}>
      A part of{" "}
      {whole.failure?.kind === "missing" ? (
        "a recording that is not listed any more"
      ) : (
        <a href={`${pagePath(projectId, "recordings", recordingId)}?tab=overview`}>
          <ForeignText text={whole.data?.path || recordingId} />
        </a>
      )}
      : {describePart(cutOf)}
    </p>
  );
}
