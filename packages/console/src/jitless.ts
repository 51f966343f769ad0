import { z } from "zod";

// zod compiles schemas by `Function` where it may, and the policy of the pages does not allow that. This has to happen before the first
// schema is made, so that main.tsx imports it first.
z.config({ jitless: true });
