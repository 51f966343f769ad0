export { type SeededAgent, seedFleet } from "./seed-fleet.ts";
export { startCloud, type TestCloud } from "./start-cloud.ts";
export { createTestDatabase, startDurablePostgres, TEST_POSTGRES_VARIABLE } from "./test-database.ts";
