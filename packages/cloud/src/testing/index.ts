export { startCloud, type TestCloud } from "./start-cloud.ts";
export { createTestDatabase, startDurablePostgres, TEST_POSTGRES_VARIABLE } from "./test-database.ts";
