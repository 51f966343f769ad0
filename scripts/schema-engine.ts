import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlQuery,
} from "@prisma/driver-adapter-utils";
import type { SchemaContainer, SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";

/** The OID of `"char"`, which occurs all over the system catalogue; Prisma's adapter refuses columns of that type. */
const CHAR = 18;
const TEXT = 25;
const FILTERS = { externalTables: [], externalEnums: [] };

/**
 * Returns the SQL that turns the database into what the schema files describe; undefined if it is the same already. It uses the WebAssembly
 * build of Prisma's own schema engine, because the native one would have to be downloaded from elsewhere.
 */
export async function diffToSchema(url: string, files: SchemaContainer[]): Promise<string | undefined> {
  const pool = new CatalogPool({ connectionString: url, max: 1 });
  try {
    const engine = await loadEngine(files, new CatalogAdapterFactory(pool));
    const from = { tag: "schemaDatasource" as const, files, configDir: dirname(files[0]?.path ?? "") };
    const to = { tag: "schemaDatamodel" as const, files };
    const diff = await engine.diff({ from, to, script: true, exitCode: true, filters: FILTERS });
    return diff.exitCode === 0 ? undefined : (diff.stdout ?? "");
  } finally {
    await pool.end();
  }
}

/** The exports of wasm-bindgen's glue code beside the classes: it is written for a bundler, and Node is none. */
interface Glue {
  SchemaEngine: typeof SchemaEngine;
  __wbg_set_wasm(exports: WebAssembly.Exports): void;
}

async function loadEngine(files: SchemaContainer[], factory: PrismaPg): Promise<SchemaEngine> {
  const gluePath = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const glue: Glue = await import(gluePath);
  const bytes = await readFile(join(dirname(gluePath), "schema_engine_bg.wasm"));
  Object.assign(globalThis, {
    PRISMA_WASM_PANIC_REGISTRY: { set_message: (message: string) => console.error(message) },
  });
  const { instance } = await WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": { ...glue } as never });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports as { __wbindgen_start(): void }).__wbindgen_start();
  const datamodels = files.map(({ path, content }): [string, string] => [path, content]);
  return glue.SchemaEngine.new({ datamodels }, () => {}, bindMigrationAwareSqlAdapterFactory(factory));
}

/** Remembers which columns of the last result were of type `"char"`, and passes them on as text. The engine sends one query at a time. */
class CatalogPool extends pg.Pool {
  charColumns: number[] = [];

  constructor(config: pg.PoolConfig) {
    super(config);
    const query = this.query.bind(this) as (...args: unknown[]) => Promise<pg.QueryResult>;
    this.query = async (...args: unknown[]) => this.#hideChars(await query(...args));
  }

  #hideChars(result: pg.QueryResult): pg.QueryResult {
    const columns = result.fields.entries().filter(([, field]) => field.dataTypeID === CHAR);
    this.charColumns = [...columns.map(([index]) => index)];
    for (const index of this.charColumns) result.fields[index]!.dataTypeID = TEXT;
    return result;
  }
}

class CatalogAdapterFactory extends PrismaPg {
  readonly #pool: CatalogPool;

  constructor(pool: CatalogPool) {
    super(pool);
    this.#pool = pool;
  }

  override async connect() {
    const adapter = await super.connect();
    const queryRaw: SqlDriverAdapter["queryRaw"] = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = async (query: SqlQuery) => {
      const result = await queryRaw(query);
      for (const index of this.#pool.charColumns) result.columnTypes[index] = ColumnTypeEnum.Character;
      return result;
    };
    return adapter;
  }
}
