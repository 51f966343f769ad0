import { formatCount } from "../parts/bytes.ts";
import { ImageLook } from "./image.tsx";
import type { LookProps } from "./look-props.ts";
import { TrackLook } from "./track.tsx";
import { Tree } from "./tree.tsx";

export function TopicLook(props: LookProps) {
  const { topic, schemaName, kind, messageCount } = props.topic;
  return (
    <section class="card stack" aria-label={topic}>
      <header class="row">
        <h2>{topic}</h2>
        <span class="muted">
          {schemaName} · {formatCount(messageCount)} messages
        </span>
      </header>
      {kind === "image" && <ImageLook {...props} />}
      {kind === "track" && <TrackLook {...props} />}
      <Tree {...props} />
    </section>
  );
}
