export { startCloud, type TestCloud } from "./start-cloud.ts";
