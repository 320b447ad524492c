/** What `/v1/nodes` answers. */
import { z } from 'zod';
import type { WireNode } from '../../api/wire-node.ts';

export const node: z.ZodType<WireNode> = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  answers: z.boolean(),
  started_at: z.iso.datetime(),
  alive_at: z.iso.datetime(),
  stopped_at: z.iso.datetime().nullable(),
  clock_ahead_ms: z.number(),
  schema_version: z.number(),
  waits: z.boolean(),
});
