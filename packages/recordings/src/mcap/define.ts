import { isPlain } from "../codecs/decompress.ts";
import type { InspectLimits } from "../faults/limits.ts";
import { RecordingError } from "../faults/reasons.ts";
import { placeOf } from "../reading/chunk.ts";
import { type FieldCursor, openCursor } from "../reading/field-cursor.ts";
import {
  addChannel,
  addSchema,
  type Channel,
  createSurvey,
  holdsSchemaOf,
  leaveOutChannel,
  type Survey,
} from "../survey/survey.ts";
import type { Trust } from "../survey/trust.ts";
import type { Verifying } from "../verified/verifying.ts";
import { opcodes } from "./opcodes.ts";
import { readChannel, readDamagedChannel, readSchema } from "./records.ts";
import type { StoredChunk } from "./stored-chunk.ts";

/** A schema or channel in a chunk. */
interface Definition {
  readonly opcode: number;
  readonly content: Uint8Array;
  /** The place among the decompressed records. */
  readonly at: number;
  readonly chunk: StoredChunk["chunk"];
}

/** Notes the schemas and channels of chunks, one chunk after another. */
export interface Definer {
  /** The definitions of the next chunk are trusted so far. */
  begin(trust: Trust): void;
  /** Answers whether it is encoded as we would encode it. */
  define(definition: Definition): boolean;
  /** All of the chunk was read. */
  end(): void;
}

type SchemaPlaces = Verifying["schemaPlaces"];

/**
 * A salvage takes what a chunk defines only once all of the chunk was read, because its checksum may refute it. It passes a definition that
 * makes no sense, because the messages around it are framed all the same.
 */
export function createDefiner({ survey, context: { limits }, schemaPlaces, isSalvage, damage }: Verifying): Definer {
  if (!isSalvage)
    return {
      begin() {},
      end() {},
      define: (found) => define(found, { survey, known: survey, limits, places: schemaPlaces, read: readChannel }),
    };
  let staged = createSurvey({ mayLackSchemas: true });
  let places: SchemaPlaces = new Map();
  return {
    begin(trust) {
      staged = createSurvey({ mayLackSchemas: true });
      staged.trust = trust;
      places = new Map();
    },
    define(found) {
      try {
        return define(found, { survey: staged, known: survey, limits, places, read: readDamagedChannel });
      } catch (error) {
        if (!(error instanceof RecordingError) || error.reason.code !== "BadChunk") throw error;
        damage.addSummary(found.chunk.offset, error.reason);
        return false;
      }
    },
    end() {
      survey.trust = staged.trust;
      for (const schema of staged.schemas.values()) {
        const known = survey.schemas.get(schema.id);
        addSchema(survey, schema, limits);
        const taken = survey.schemas.get(schema.id);
        const place = places.get(schema);
        if (place && taken && taken !== known) schemaPlaces.set(taken, place);
      }
      for (const id of staged.leftOut.schemas) if (!survey.schemas.has(id)) survey.leftOut.schemas.add(id);
      for (const channel of staged.channels.values()) addChannel(survey, channel, limits);
      for (const id of staged.leftOut.channels) leaveOutChannel(survey, id);
    },
  };
}

interface Defining {
  /** It takes what is defined. */
  readonly survey: Survey;
  /** The knowledge of the file so far. */
  readonly known: Survey;
  readonly limits: InspectLimits;
  readonly places: SchemaPlaces;
  readonly read: typeof readChannel;
}

function define(found: Definition, defining: Defining): boolean {
  const { content, at, chunk, opcode } = found;
  const { survey, known, limits, read } = defining;
  const cursor = openCursor(content, () => `${placeOf(chunk)}, at its byte ${at},`, "BadChunk");
  if (opcode === opcodes.schema) return defineSchema(found, cursor, defining);
  if (limits.leavesOut && content.byteLength > limits.maxMapBytes) {
    leaveOutChannel(survey, cursor.view.getUint16(0, true));
    return false;
  }
  const channel = read(cursor);
  addChannel(survey, channel, limits);
  return (
    content.byteLength === bytesOfChannel(channel) && (holdsSchemaOf(survey, channel) || holdsSchemaOf(known, channel))
  );
}

function defineSchema({ content, at, chunk }: Definition, cursor: FieldCursor, { survey, limits, places }: Defining) {
  const schema = readSchema(cursor);
  if (schema.id === 0) return false; // spec: MCAP "Schema": 0 is no id
  const isKnown = survey.schemas.has(schema.id);
  addSchema(survey, schema, limits);
  const isCanonical = cursor.position === content.byteLength;
  const stored = survey.schemas.get(schema.id);
  if (isKnown || !stored || !isPlain(chunk.compression)) return isCanonical;
  const { byteLength } = schema.data;
  places.set(stored, [chunk.dataOffset + at + cursor.position - byteLength, byteLength]);
  return isCanonical;
}

/** The size of a channel as we would encode it. A channel with added fields, a repeated key or invalid UTF-8 has another size. */
function bytesOfChannel({ topic, messageEncoding, metadata }: Channel): number {
  const texts = [topic, messageEncoding, ...Object.entries(metadata).flat()];
  return texts.reduce((sum, text) => sum + 4 + Buffer.byteLength(text), 2 + 2 + 4);
}
