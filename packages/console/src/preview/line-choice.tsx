import { describePath, parsePath } from "./fields.ts";
import { previewLimits } from "./limits.ts";
import { formatLine, toggleLine } from "./lines.ts";
import type { OpenedTopic } from "./requests.ts";
import type { PreviewSession } from "./session.ts";
import { useAnswer } from "./use-answer.ts";

interface ChoiceProps {
  readonly session: PreviewSession;
  readonly topics: readonly OpenedTopic[];
  readonly lines: readonly string[];
  readonly onChange: (lines: readonly string[]) => void;
}

/** Chooses which numbers of messages are drawn as lines. */
export function LineChoice({ session, topics, lines, onChange }: ChoiceProps) {
  return (
    <details class="card" open={lines.length === 0}>
      <summary>
        Fields to plot{" "}
        <span class="muted">
          ({lines.length} of at most {previewLimits.series})
        </span>
      </summary>
      {topics.map((topic) => (
        <TopicFields key={topic.topic} {...{ session, topic, lines, onChange }} />
      ))}
    </details>
  );
}

function TopicFields({
  session,
  topic: { topic },
  lines,
  onChange,
}: Omit<ChoiceProps, "topics"> & { topic: OpenedTopic }) {
  const { answer, problem } = useAnswer(session, "fields", { topic });
  const isFull = lines.length >= previewLimits.series;
  return (
    <fieldset class="field-list">
      <legend>{topic}</legend>
      {problem && <p class="muted">{problem}</p>}
      {answer?.fields.length === 0 && <p class="muted">Its messages have no numbers.</p>}
      {answer?.fields.map((field) => {
        const line = formatLine({ topic, field });
        const isOn = lines.includes(line);
        return (
          <label key={field} class="row">
            <input
              type="checkbox"
              checked={isOn}
              disabled={isFull && !isOn}
              onChange={() => onChange(toggleLine(lines, line))}
            />
            <span class="mono">{describePath(parsePath(field))}</span>
          </label>
        );
      })}
    </fieldset>
  );
}
