import type { CallInput, Operation, Output } from "@downlink/protocol";
import { client } from "./client.ts";
import { queryKey } from "./query-key.ts";
import { type Query, type QueryOptions, useFetched } from "./use-query.ts";

/** A browser allows six calls of a host at once, and the page needs some meanwhile. */
const AT_ONCE = 3;

/** Asks one operation for several inputs. The answers are there once all of them are, in the order of the inputs. */
export function useManyQueries<O extends Operation>(
  operation: O,
  inputs: readonly CallInput<O>[],
  { isEnabled = true, ...options }: QueryOptions = {},
): Query<readonly Output<O>[]> {
  const fetchAll = async ({ signal }: { signal: AbortSignal }) => {
    const answers: Output<O>[] = [];
    for (let at = 0; at < inputs.length; at += AT_ONCE) {
      const some = inputs.slice(at, at + AT_ONCE);
      answers.push(...(await Promise.all(some.map((input) => client.call(operation, input, { signal })))));
    }
    return answers;
  };
  const [path, text] = queryKey(operation.path, inputs);
  return useFetched([path, text], fetchAll, { ...options, isEnabled: isEnabled && inputs.length > 0 });
}
