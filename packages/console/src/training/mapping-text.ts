import { datasetMappings, explainIssue, type TrainingMapping } from "@downlink/protocol";

/** Texts that are longer are broken into lines. */
const LONGEST = 68;

/** Writes a mapping as JSON to be edited: what is short stands in one line. */
export function formatMapping(mapping: TrainingMapping): string {
  return writeLines(mapping, "");
}

function writeLines(value: unknown, indent: string): string {
  const flat = writeFlat(value);
  const isSmall =
    typeof value !== "object" || value === null || (indent !== "" && indent.length + flat.length <= LONGEST);
  if (isSmall) return flat;
  const inner = `${indent}  `;
  const lines = piecesOf(value, (one) => writeLines(one, inner)).map((piece) => inner + piece);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function writeFlat(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const pieces = piecesOf(value, writeFlat).join(", ");
  if (pieces === "") return JSON.stringify(value);
  return Array.isArray(value) ? `[${pieces}]` : `{ ${pieces} }`;
}

function piecesOf(value: object, write: (one: unknown) => string): string[] {
  if (Array.isArray(value)) return value.map(write);
  const set = Object.entries(value).filter(([, one]) => one !== undefined);
  return set.map(([name, one]) => `${JSON.stringify(name)}: ${write(one)}`);
}

/** A fault of a typed mapping. The path is empty for a text that is no JSON. */
export interface MappingFault {
  readonly path: string;
  readonly message: string;
}

export interface ReadMapping {
  /** Undefined where the text has faults. */
  readonly mapping: TrainingMapping | undefined;
  readonly faults: readonly MappingFault[];
}

/** Reads a typed mapping, and names its faults by the same paths and in the same words as the service. */
export function readMapping(text: string): ReadMapping {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const message = text.trim() === "" ? "There is no mapping yet." : `This is no JSON: ${(error as Error).message}.`;
    return { mapping: undefined, faults: [{ path: "", message }] };
  }
  const { data, error } = datasetMappings.create.body.shape.mapping.safeParse(json, { error: explainIssue });
  const faults = (error?.issues ?? []).map((issue) => ({
    path: ["mapping", ...issue.path].join("."),
    message: issue.message,
  }));
  return { mapping: data, faults };
}
