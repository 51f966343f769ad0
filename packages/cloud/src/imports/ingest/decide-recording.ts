// A repeat of an upload creates no recording: which recording it is is decided before the device that its file names is created. The
// recording joins the session that the upload itself names if it is in none (`imports/ingest/join-session.ts`). If it cannot, the import is
// complete all the same and says why, because every repeat is harmless and a silent move would take data from another session.

/** The fields of an imported recording that deduplication needs. */
export interface ImportedRecording {
  readonly id: string;
  readonly key: string | null;
  readonly contentSha256: string | null;
  /** Undefined if it does not belong to the incoming file's device. */
  readonly path: string | undefined;
}

interface Incoming {
  /** The file comes from the device's own storage, so it has a recording row already. */
  readonly isEdge: boolean;
  readonly key: string | undefined;
  readonly contentSha256: string;
  /** The imported recording of the project that has the key. */
  readonly sameKey: ImportedRecording | undefined;
  /** The imported recording of the same device that has the same content. */
  readonly sameContent: ImportedRecording | undefined;
}

export type Decision =
  | { readonly kind: "new" }
  | { readonly kind: "existing"; readonly recordingId: string }
  | { readonly kind: "reject"; readonly code: "KeyTaken"; readonly text: string }
  | {
      readonly kind: "reject";
      readonly code: "DuplicateContent";
      readonly text: string;
      readonly duplicateOfId: string;
    };

/**
 * Decides which recording a file is. spec: wire contract §4, deduplication by content hash
 *
 * | key                | content on the device | upload     | edge import      |
 * | same               | same                  | existing   | DuplicateContent |
 * | same               | other                 | KeyTaken   | KeyTaken         |
 * | none, or another   | same, keyless upload  | existing   | DuplicateContent |
 * | another            | same                  | DuplicateContent | DuplicateContent |
 * | none, or another   | other                 | new        | new              |
 */
export function decideRecording({ isEdge, key, contentSha256, sameKey, sameContent }: Incoming): Decision {
  if (sameKey && sameKey.contentSha256 !== contentSha256)
    return {
      kind: "reject",
      code: "KeyTaken",
      text: `recording ${sameKey.id} has the key already, with other content: "${key}"`,
    };
  const first = sameKey ?? sameContent;
  if (!first) return { kind: "new" };
  if (isEdge) return duplicateOf(first);
  const isRepeat = sameKey !== undefined || key === undefined || key === first.key;
  return isRepeat ? { kind: "existing", recordingId: first.id } : duplicateOf(first);
}

function duplicateOf(first: ImportedRecording): Decision {
  return { kind: "reject", code: "DuplicateContent", text: describeDuplicate(first), duplicateOfId: first.id };
}

/** The id comes first, because a long path is cut off. */
export function describeDuplicate({ id, path }: Pick<ImportedRecording, "id" | "path">): string {
  const name = path === undefined ? id : `${id} (${path})`;
  return `the same content was imported already as recording ${name}`;
}
