import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Select } from "../parts/select.tsx";
import type { KnownTopic } from "./choose-views.ts";
import { ImageLook } from "./image.tsx";
import { LineChoice } from "./line-choice.tsx";
import { LogLook } from "./log.tsx";
import type { LookProps } from "./look-props.ts";
import { PlotLook } from "./plot.tsx";
import { StatesLook } from "./states.tsx";
import { kindOf } from "./topic-kind.ts";
import { TrackLook } from "./track.tsx";
import { Tree } from "./tree.tsx";
import { useAnswer } from "./use-answer.ts";

export interface ViewProps {
  readonly topic: KnownTopic;
  /** The topics that it can show instead, with itself. */
  readonly choices: readonly KnownTopic[];
  /** Undefined until the messages were read. */
  readonly look: LookProps | undefined;
  /** Why there is nothing to see, in place of a look. */
  readonly note: string | undefined;
  /** The fields that are drawn of its messages, in the place of those that are drawn anyhow. */
  readonly fields: readonly string[];
  readonly onFields: (fields: readonly string[]) => void;
  readonly onTopic: (topic: string) => void;
  readonly isLarge: boolean;
  readonly onLarge: () => void;
  /** Absent for the last view. */
  readonly onClose?: (() => void) | undefined;
}

/** Shows a topic at the moment, with a line above that names it. */
export function View(props: ViewProps) {
  const [isOpen, setOpen] = useState(false);
  const { topic, look, note } = props;
  return (
    <section class="view" aria-label={topic.topic} tabIndex={-1} data-topic={topic.topic}>
      <Head {...props} isOpen={isOpen} onOpen={() => setOpen(!isOpen)} />
      <div class="view-body">
        {look && isOpen && <Details key={topic.topic} {...props} look={look} />}
        {look && !isOpen && <Look key={topic.topic} {...props} look={look} />}
        {!look && (note ? <p class="view-note">{note}</p> : <div class="view-skeleton" aria-hidden="true" />)}
      </div>
    </section>
  );
}

interface HeadProps extends ViewProps {
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

function Head({ topic, choices, isOpen, onOpen, onTopic, isLarge, onLarge, onClose }: HeadProps) {
  const { schemaName, messageCount, meanHz } = topic;
  const rate = meanHz === undefined ? "" : `${Number(meanHz.toPrecision(3))} Hz · `;
  return (
    <header class="view-head">
      <Select
        class="quiet view-topic"
        aria-label="Topic"
        value={topic.topic}
        choices={choices.map(({ topic: name }) => [name, name] as const)}
        onChange={onTopic}
      />
      <span class="muted cut view-about">
        {rate}
        {formatCount(messageCount)} messages · <ForeignText text={schemaName} />
      </span>
      <IconButton name={isOpen ? "Back to the view" : "Fields and message"} isOn={isOpen} onClick={onOpen}>
        ⋯
      </IconButton>
      <IconButton name={isLarge ? "Back to all views" : "Enlarge (f)"} isOn={isLarge} onClick={onLarge}>
        ⤢
      </IconButton>
      {onClose && (
        <IconButton name="Close the view" onClick={onClose}>
          ×
        </IconButton>
      )}
    </header>
  );
}

interface IconProps {
  readonly name: string;
  readonly isOn?: boolean;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

function IconButton({ name, isOn, onClick, children }: IconProps) {
  return (
    <button
      type="button"
      class="plain view-button"
      aria-label={name}
      title={name}
      aria-pressed={isOn}
      onClick={onClick}
    >
      <span aria-hidden="true">{children}</span>
    </button>
  );
}

interface OpenProps extends ViewProps {
  readonly look: LookProps;
}

/** A topic of which fields were chosen is drawn as lines, whatever its kind. */
function Look({ look, fields }: OpenProps) {
  const kind = fields.length > 0 ? "numbers" : kindOf(look.topic.schemaName);
  switch (kind) {
    case "image":
      return <ImageLook {...look} />;
    case "track":
      return <TrackLook {...look} />;
    case "log":
      return <LogLook {...look} />;
    case "states":
      return <StatesLook {...look} />;
    case "numbers":
      return <PlotLook {...look} fields={fields} />;
    case "tree":
      return <Tree {...look} />;
  }
}

/** The fields of a topic and its message at the moment. */
function Details({ look, fields, onFields }: OpenProps) {
  const { topic, kind } = look.topic;
  const { answer, problem } = useAnswer(look.session, "fields", { topic });
  const usual = kind === "numbers" ? (answer?.usual ?? []) : [];
  return (
    <div class="view-details">
      {problem && <p class="view-note">{problem}</p>}
      {answer && (
        <LineChoice
          {...{ topic, fields: answer.fields, chosen: fields.length > 0 ? fields : usual, onChange: onFields }}
        />
      )}
      <h2>Message at this moment</h2>
      <Tree {...look} />
    </div>
  );
}
