export { startEmbeddedPostgres } from "../db/embedded-postgres.ts";
export { startWebhookLoad, type WebhookRound } from "../organization/webhooks/testing/webhook-load.ts";
export { type SeededAgent, seedFleet } from "./seed-fleet.ts";
export { copyDatabase, dropDatabase, restoreDatabase } from "./set-back.ts";
export { copyStore, emptyStore } from "./set-store-back.ts";
export { startCloud, type TestCloud } from "./start-cloud.ts";
export { readStoredObjects } from "./stored-objects.ts";
export { createTestDatabase, startDurablePostgres, TEST_POSTGRES_VARIABLE } from "./test-database.ts";
export { findTestBucket, skipInBucket, storeSettings, TEST_BUCKET_VARIABLE } from "./test-store.ts";
