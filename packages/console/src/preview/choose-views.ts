import { kindOf, type TopicKind } from "./topic-kind.ts";
import { hasUsualFields } from "./usual-fields.ts";

/** A topic of the whole recording, whether its messages were read or not. */
export interface KnownTopic {
  readonly topic: string;
  readonly schemaName: string;
  readonly messageCount: number;
  /** Messages a second. */
  readonly meanHz?: number | undefined;
}

/** More cannot be read beside each other. */
export const MOST_VIEWS = 4;

const WANTED: readonly TopicKind[] = ["image", "numbers", "log", "track"];
const FILLING: readonly TopicKind[] = ["image", "numbers", "track", "log", "states", "tree"];

/** Chooses the topics that a recording shows at first: a camera, a plot, a log and a track, and else more of what there is. */
export function chooseViews(known: readonly KnownTopic[]): string[] {
  const byName = new Map(known.filter(({ messageCount }) => messageCount > 0).map((one) => [one.topic, one]));
  const topics = [...byName.values()].sort((a, b) => rankOf(a) - rankOf(b));
  const firsts = WANTED.flatMap((kind) => topics.find(({ schemaName }) => kindOf(schemaName) === kind) ?? []);
  const others = topics.filter((topic) => !firsts.includes(topic));
  return [...firsts, ...others].slice(0, MOST_VIEWS).map(({ topic }) => topic);
}

/** Numbers of which it is known that one wants to see them come first, and of pictures those that take few bytes. */
function rankOf({ schemaName }: KnownTopic): number {
  const isFirst = hasUsualFields(schemaName) || /Compressed/.test(schemaName);
  return 2 * FILLING.indexOf(kindOf(schemaName)) + (isFirst ? 0 : 1);
}
