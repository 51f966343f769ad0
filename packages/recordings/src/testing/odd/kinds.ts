import { chunkKinds } from "./chunk-kinds.ts";
import { contentKinds, looseKinds } from "./content-kinds.ts";
import { definitionKinds } from "./definition-kinds.ts";
import { endKinds } from "./end-kinds.ts";
import { fieldKinds } from "./field-kinds.ts";
import { frameKinds } from "./frame-kinds.ts";
import { indexKinds } from "./index-kinds.ts";
import type { OddKind } from "./kind.ts";
import { placeKinds } from "./place-kinds.ts";
import { sizeKinds } from "./size-kinds.ts";
import { chunkIndexKinds, statisticsKinds } from "./summary-kinds.ts";

/** In the order in which they are applied: what stands in the file first, then what is said of it. */
export const oddKinds: readonly OddKind[] = [
  ...sizeKinds,
  ...contentKinds,
  ...fieldKinds,
  ...definitionKinds,
  ...chunkKinds,
  ...frameKinds,
  ...indexKinds,
  ...looseKinds,
  ...placeKinds,
  ...chunkIndexKinds,
  ...statisticsKinds,
  ...endKinds,
];
