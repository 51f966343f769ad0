import { useEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import type { LookProps } from "./look-props.ts";
import { TrackLook } from "./track.tsx";
import { Tree } from "./tree.tsx";
import { useAnswer } from "./use-answer.ts";

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

/** Shows the last picture before the moment. */
function ImageLook({ session, topic: { topic, timesNs }, cursorNs, onCursor }: LookProps) {
  const { answer, problem } = useAnswer(session, "image", { topic, timeNs: cursorNs });
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!answer || !canvas.current) return;
    const { bitmap } = answer;
    canvas.current.width = bitmap.width;
    canvas.current.height = bitmap.height;
    canvas.current.getContext("2d")!.drawImage(bitmap, 0, 0);
  }, [answer]);
  const at = timesNs.findLastIndex((timeNs) => timeNs <= cursorNs);
  const go = (index: number) => onCursor(timesNs[index]!);
  return (
    <figure class="stack">
      {problem ? (
        <p class="muted">{problem}</p>
      ) : (
        <canvas ref={canvas} class="image" role="img" aria-label={`Picture of ${topic}`} />
      )}
      <figcaption class="row">
        <Button text="◀ Picture before" class="small" disabled={at <= 0} onClick={() => go(at - 1)} />
        <Button text="Next picture ▶" class="small" disabled={at >= timesNs.length - 1} onClick={() => go(at + 1)} />
        <span class="muted">
          {Math.max(0, at) + 1} of {timesNs.length}
          {answer && ` · ${answer.bitmap.width} × ${answer.bitmap.height} · +${(answer.timeNs / 1e9).toFixed(3)} s`}
        </span>
      </figcaption>
    </figure>
  );
}
