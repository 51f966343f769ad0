import { useEffect, useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import type { LookProps } from "./look-props.ts";
import { placeAt, timeToShow } from "./place-at.ts";
import { useAnswer } from "./use-answer.ts";

/** Shows the last picture before the moment. */
export function ImageLook({ session, topic: opened, cursorNs, onCursor }: LookProps) {
  const { topic, timesNs } = opened;
  const at = Math.max(0, placeAt(timesNs, cursorNs, Number));
  const { answer, problem } = useAnswer(session, "image", { topic, timeNs: timeToShow(opened, cursorNs) });
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (!answer || !canvas.current) return;
    const { bitmap, width, height } = answer;
    canvas.current.width = width;
    canvas.current.height = height;
    canvas.current.getContext("2d")!.drawImage(bitmap, 0, 0);
    // It would take its memory until the garbage is collected, and a camera sends many.
    bitmap.close();
  }, [answer]);
  return (
    <figure class="image-look">
      {problem ? (
        <p class="view-note">{problem}</p>
      ) : (
        <canvas ref={canvas} class="image" role="img" aria-label={`Picture of ${topic}`} />
      )}
      {answer?.problem && (
        <p class="image-problem">
          The picture of this moment cannot be shown, so that the next one is: {answer.problem}
        </p>
      )}
      <figcaption class="row over-image">
        <Step text="◀" name="Picture before" toNs={timesNs[at - 1]} onCursor={onCursor} />
        <Step text="▶" name="Next picture" toNs={timesNs[at + 1]} onCursor={onCursor} />
        <span>
          {at + 1} of {timesNs.length}
          {answer && ` · ${answer.width} × ${answer.height}`}
        </span>
      </figcaption>
    </figure>
  );
}

interface StepProps extends Pick<LookProps, "onCursor"> {
  readonly text: string;
  readonly name: string;
  readonly toNs: number | undefined;
}

function Step({ text, name, toNs, onCursor }: StepProps) {
  return (
    <Button
      text={text}
      class="plain small"
      aria-label={name}
      disabled={toNs === undefined}
      onClick={() => onCursor(toNs!)}
    />
  );
}
