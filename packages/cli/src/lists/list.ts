import type { Flags } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";

/** The start of a listing: at most so many rows, and whether the service has more of them. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly isMore: boolean;
}

/** The way in which a list is shown. */
export interface Form<Row> {
  /** The listed things, in the plural. */
  readonly things: string;
  readonly head: readonly string[];
  /** The printable texts of a row of the table. The last one is cut where the screen is too narrow. */
  readonly cells: (row: Row) => readonly string[];
  /** The columns of CSV: paths of fields in the encoded row, such as `device.name`. */
  readonly fields: readonly string[];
  /** Encodes rows as the service sent them. */
  readonly encode: (rows: readonly Row[]) => readonly object[];
  /** The answer around the encoded rows, where they are not the whole answer. */
  readonly wrap?: (encoded: readonly object[]) => object;
}

export interface Listed<Row> {
  readonly page: Page<Row>;
  readonly form: Form<Row>;
}

/** Lists at most so many things. Throws {@link UsageError} for flags that the service would refuse. */
export type List<Row> = (service: Service, flags: Flags, limit: number) => Promise<Listed<Row>>;
