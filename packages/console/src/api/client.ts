import { createClient, fetchTransport } from "@downlink/client";

/**
 * All calls go to the service that served the page, whose cookie the browser adds by itself. Calls are repeated by the queries, which know
 * whether anybody still looks, and not by the client.
 */
export const client = createClient({ baseUrl: location.origin, transport: fetchTransport() });
