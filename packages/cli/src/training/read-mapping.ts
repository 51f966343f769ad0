import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { api, explainIssue, MAX_MAPPING_CHARACTERS, type TrainingMapping } from "@downlink/protocol";
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { UsageError } from "../failures/failures.ts";

interface NamedMapping {
  readonly name: string;
  readonly mapping: TrainingMapping;
}

/** Comments and spaces count in a file, and not in a mapping. */
const MOST_BYTES = 16 * MAX_MAPPING_CHARACTERS;
const MOST_SAID = 10;

/**
 * Reads a mapping out of a file in YAML, of which JSON is a part. Its name is that of the file without the ending, unless one is given. Throws
 * {@link UsageError} that names each wrong field by its path, with its line.
 */
export async function readMapping(file: string, given: string | undefined): Promise<NamedMapping> {
  const bytes = await readFile(file);
  if (bytes.length > MOST_BYTES) throw new UsageError(`${file} is larger than a mapping can be`);
  const lines = new LineCounter();
  const document = parseDocument(bytes.toString("utf8"), { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const [error] = document.errors;
  if (error) throw new UsageError(`${at(error.pos[0])}: ${error.message}`);
  const name = given ?? basename(file, extname(file));
  const read = api.datasetMappings.create.body.safeParse(
    { name, mapping: toValue(document, file) },
    { error: explainIssue },
  );
  if (read.success) return read.data;
  const said = read.error.issues.flatMap((issue) => {
    const [field, ...path] = issue.path;
    if (field === "name") return [`--name ${issue.message}`];
    const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
    const place = at(findOffset(document, [...path, ...keys]));
    return [`${place}: ${path.length === 0 ? "the mapping" : path.join(".")} ${issue.message}`];
  });
  const more = said.length > MOST_SAID ? [`and ${said.length - MOST_SAID} more`] : [];
  throw new UsageError([...said.slice(0, MOST_SAID), ...more].join("; "));
}

function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (error instanceof ReferenceError) throw new UsageError(`${file}: ${error.message}`); // an alias of nothing, or too many
    throw error;
  }
}

/** Returns where in the text a field begins, or else the nearest one around it that is there. */
function findOffset({ contents }: Document, path: readonly PropertyKey[]): number {
  let [node, offset]: [unknown, number] = [contents, contents?.range?.[0] ?? 0];
  for (const step of path) {
    const pair = isMap(node) && node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
    const place = pair ? pair.key : isSeq(node) && node.items[Number(step)];
    if (!place) return offset;
    offset = (place as { range?: readonly number[] }).range?.[0] ?? offset;
    node = pair ? pair.value : place;
  }
  return offset;
}
