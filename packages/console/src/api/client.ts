import { createClient, fetchTransport } from "@downlink/client";

/**
 * All calls go to the service that served the page, whose cookie the browser adds by itself. The queries repeat calls, because they know
 * whether the data is still in sight; the client does not.
 */
export const client = createClient({ baseUrl: location.origin, transport: fetchTransport() });
