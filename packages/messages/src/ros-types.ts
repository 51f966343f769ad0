import { parse } from "@foxglove/rosmsg";
import { DecodeError, MAX_DEPTH } from "./value.ts";

/** A type of ROS, resolved: its fields in the order of their bytes, without constants. */
export interface RosStruct {
  readonly fields: readonly RosField[];
}

export interface RosField {
  readonly name: string;
  /** The name of a built-in type, or the fields of another one. */
  readonly type: string | RosStruct;
  /** Absent for one value. `counted`: the number of values stands before them. */
  readonly arrayLength?: number | "counted";
}

type Definition = ReturnType<typeof parse>[number];

/** Reads a definition with those that it names. Types that contain themselves are refused: ROS has none. */
export function readRosTypes(schema: Uint8Array, { isRos2 }: { isRos2: boolean }): RosStruct {
  const definitions = parseText(definitionText(schema), isRos2);
  const root = definitions.find(({ definitions: fields }) => fields.length === 0 || fields.some((f) => !f.isConstant));
  if (!root) throw new DecodeError("The schema defines no message.");
  const named = new Map(definitions.flatMap((definition) => (definition.name ? [[definition.name, definition]] : [])));
  return resolve(root, { named, resolved: new Map(), open: [] });
}

interface Resolving {
  readonly named: ReadonlyMap<string, Definition>;
  readonly resolved: Map<Definition, RosStruct>;
  /** The types around this one. */
  readonly open: readonly Definition[];
}

/** The longest that a definition may be. The largest of those that ROS installs are below 50 kB, with all that they name. */
const MAX_DEFINITION_BYTES = 512 * 1024;

function definitionText(bytes: Uint8Array): string {
  if (bytes.byteLength > MAX_DEFINITION_BYTES) {
    throw new DecodeError(
      `The schema has ${bytes.byteLength} bytes, more than the ${MAX_DEFINITION_BYTES} that are read.`,
    );
  }
  return new TextDecoder().decode(bytes);
}

function parseText(text: string, isRos2: boolean): Definition[] {
  try {
    return parse(text, { ros2: isRos2 });
  } catch (cause) {
    throw new DecodeError("The schema cannot be read as a ROS definition.", { cause });
  }
}

function resolve(definition: Definition, resolving: Resolving): RosStruct {
  const { resolved, open } = resolving;
  const before = resolved.get(definition);
  if (before) return before;
  if (open.includes(definition)) throw new DecodeError(`The type ${definition.name} contains itself.`);
  if (open.length >= MAX_DEPTH) throw new DecodeError(`Types lie more than ${MAX_DEPTH} deep in each other.`);
  const inside = { ...resolving, open: [...open, definition] };
  const fields = definition.definitions
    .filter(({ isConstant }) => !isConstant)
    .map((field): RosField => {
      if (field.name === "__proto__")
        throw new DecodeError("A field has the name __proto__, which ROS does not allow.");
      const type = field.isComplex ? resolve(find(field.type, resolving.named), inside) : field.type;
      if (!field.isArray) return { name: field.name, type };
      return { name: field.name, type, arrayLength: field.arrayLength ?? "counted" };
    });
  const struct = { fields };
  resolved.set(definition, struct);
  return struct;
}

function find(name: string, named: ReadonlyMap<string, Definition>): Definition {
  const found = named.get(name);
  if (!found) throw new DecodeError(`The schema does not define ${name}.`);
  return found;
}
