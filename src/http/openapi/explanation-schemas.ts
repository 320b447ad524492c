/** The schemas of who is told, and of why a snitch is as it is. */
import { z } from 'zod';
import type { WireAudience } from '../../api/wire.ts';
import type { WireExplanation } from '../../api/wire-explanation.ts';
import { double, held, seconds, silenced, status, text, time } from './snitch-schemas.ts';

const audience = z.object({
  emails: z.array(text),
  webhooks: z.array(text),
  channels: z.array(text),
  failing: z
    .array(z.object({ channel: text, name: text, why: text }))
    .meta({ description: 'Those of them that took nothing when they were last sent something' }),
  sends_email: z.boolean(),
}) satisfies z.ZodType<WireAudience>;

export const caseAudience = audience.extend({
  nobody: text
    .nullable()
    .meta({ description: 'Why a snitch without tags and addresses of its own alerts nobody' }),
  unreached: z
    .object({ names: z.array(text), more: z.boolean(), all: z.boolean() })
    .meta({ description: 'Snitches whose alerts reach nobody, where asked for with `unreached`' })
    .optional(),
}) satisfies z.ZodType<Omit<WireAudience, 'unreached'>>;

const instant = z.object({ at: time, local: text });

export const explanation: z.ZodType<WireExplanation> = z.object({
  status,
  reason: text.nullable(),
  timezone: text,
  period: z.object({ start: time, end: time }),
  deadline: instant.nullable(),
  next_alert: instant.nullable(),
  planned: z.object({ from: time, to: time, by: text, note: text }).nullable().meta({
    description: 'The silence to come that delays the next alert, or the first of those that leave none',
  }),
  missing_since: time.nullable(),
  paused: z
    .object({
      until: text.meta({ description: 'healthy, unpaused, or a time' }),
      by: z.object({ name: text, at: time }).nullable(),
    })
    .nullable(),
  silenced,
  held,
  schedule: z
    .object({
      timezone: text,
      grace: seconds,
      runs: z.array(z.object({ at: time, local: text, deadline: time, deadline_local: text })),
    })
    .nullable(),
  runs: z.object({
    open: z.array(z.object({ started_at: time, overruns_at: time.nullable() })),
    usual_ms: z.number().nullable(),
  }),
  values: z.array(
    z.object({ name: text, last: double, at: time, usual: double.nullable(), runs: z.number() }),
  ),
  reasons: z.array(text),
  notify: audience,
});
