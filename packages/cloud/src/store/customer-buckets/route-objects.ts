import { isOfCustomer } from "../blobs/object-key.ts";
import type { OpenedStore } from "../bucket-uploads/open-store.ts";
import type { CustomerBuckets } from "./open-buckets.ts";

/**
 * Our own store, in which the objects of customers' buckets can be read under their keys, too. Such objects can only be read: a call that
 * would remove one does nothing, and a call that would write one has no way to a customer's bucket.
 */
export function routeObjects(own: OpenedStore, customers: Pick<CustomerBuckets, "open" | "stat">): OpenedStore {
  return {
    ...own,
    open: (key, options) => (isOfCustomer(key) ? customers.open(key) : own.open(key, options)),
    stat: (key) => (isOfCustomer(key) ? customers.stat(key) : own.stat(key)),
    delete: async (key) => (isOfCustomer(key) ? undefined : own.delete(key)),
    abortUpload: async (key) => (isOfCustomer(key) ? undefined : own.abortUpload(key)),
  };
}
