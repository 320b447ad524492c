/** Silences as schemas; the compiler keeps them in step with `api/wire.ts`. */
import { z } from 'zod';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { LONGEST_SILENCE, SHORTEST_SILENCE } from '../../core/silences/input.ts';
import { SECOND } from '../../text/durations.ts';
import { text, time } from './snitch-schemas.ts';

const stretch = z.object({ from: time, to: time });
const schedule = z.union([z.object({ cron: text.max(500) }), z.object({ calendar: text.max(500) })]);
const duration = z
  .number()
  .int()
  .min(SHORTEST_SILENCE / SECOND)
  .max(LONGEST_SILENCE / SECOND);

export const silence: z.ZodType<WireSilence> = z.object({
  id: text,
  tags: z.array(text).nullable(),
  tokens: z.array(text).nullable(),
  all: z.boolean(),
  from: time.nullable(),
  to: time.nullable(),
  schedule: schedule.nullable(),
  duration: z.number().nullable(),
  timezone: text.nullable(),
  note: text,
  by: text.meta({ description: 'The name of the key that made it' }),
  created_at: time,
  active: z.boolean(),
  current: stretch.nullable(),
  next: stretch.nullable(),
  ended_at: time.nullable().meta({ description: 'When somebody ended it early' }),
  unknown_tags: z
    .array(text)
    .optional()
    .meta({ description: 'Only in the answer that makes it: those of its tags that no snitch has now' }),
});

const note = text.max(1_000).nullable();

export const newSilence = z
  .object({
    tags: z.array(text.max(100)).max(50),
    tokens: z.array(text).max(500),
    all: z.boolean(),
    from: time,
    to: time,
    schedule,
    duration,
    timezone: text.nullable(),
    note,
  })
  .partial();

export const silenceChanges = z.object({ to: time, note }).partial();
