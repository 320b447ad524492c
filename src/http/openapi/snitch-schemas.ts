/** The shapes of `api/wire.ts` for snitches, as schemas; the compiler keeps the two in step. */
import { z } from 'zod';
import type { WireSchedule, WireSnitch } from '../../api/wire.ts';
import { LONGEST_BY, LONGEST_NOTE } from '../../core/acknowledgement/input.ts';
import { INTERVALS } from '../../core/interval.ts';
import { MOST_NEEDS } from '../../core/needs/needs.ts';
import { LONGEST_RUNTIME } from '../../core/run-fields.ts';
import { LONGEST_MIN_RUNTIME, MOST_EXPECTATIONS, MOST_FAILURES } from '../../core/run-rule-fields.ts';
import { LONGEST_EVERY, SHORTEST_EVERY } from '../../core/schedule/schedule.ts';
import { LONGEST_GRACE } from '../../core/schedule-fields.ts';

export const time = z.string().meta({ format: 'date-time' });
export const text = z.string();

export const interval = z.enum(INTERVALS as [string, ...string[]]);
export const status = z.enum(['pending', 'healthy', 'failed', 'errored', 'paused']);
const alertType = z.enum(['basic', 'smart']);

export const schedule: z.ZodType<WireSchedule> = z.union([
  z.object({ cron: text.max(500) }),
  z.object({ calendar: text.max(500) }),
  z.object({ every: z.number().min(SHORTEST_EVERY).max(LONGEST_EVERY) }),
]);

export const seconds = z.number().min(0).max(LONGEST_GRACE);
const due = {
  schedule: schedule.nullable(),
  timezone: text.nullable(),
  grace: seconds.nullable(),
  max_runtime: z.number().min(1).max(LONGEST_RUNTIME).nullable(),
};

/** What a job reports, and what is compared with that. */
export const double = z.number().meta({ format: 'double' });
const factor = z.number().min(0).meta({ format: 'double' }).nullable();

/** As in answers; in requests, what is null or left out sets no limit. */
const expectation = z.object({
  value: text.regex(/^[a-z][a-z0-9_]{0,31}$/),
  min: double.nullable(),
  max: double.nullable(),
  of_usual: z.tuple([factor, factor]).nullable(),
  required: z.boolean(),
});
const failures = z.number().int().min(1).max(MOST_FAILURES);
const runRules = {
  min_runtime: z.number().int().min(1).max(LONGEST_MIN_RUNTIME).nullable(),
  failures_before_alert: failures,
  expect: z.array(expectation).max(MOST_EXPECTATIONS).nullable(),
};

const report = z.object({
  at: time,
  outcome: z.enum(['healthy', 'error']),
  exit_status: z.number().nullable(),
  message: text.nullable(),
  reason: text.optional(),
});

const publicName = text.meta({ description: 'What the status page calls it; null for its name' });
const acknowledgement = z
  .object({ at: time, note: text.nullable(), by: text })
  .nullable()
  .meta({ description: 'Who looks after its present alarm; null where nobody said so' });
export const silenced = z
  .object({ id: text, until: time, by: text, note: text })
  .nullable()
  .meta({ description: 'The silence that keeps its alarms back now; null where none does' });
export const held = z
  .object({ by: z.object({ token: text, name: text }).nullable(), since: time, until: time.nullable() })
  .nullable()
  .meta({ description: 'Its alarm that is held, and what it needs that is down; null where none is held' });

export const snitch: z.ZodType<WireSnitch> = z.object({
  token: text,
  href: text,
  name: text,
  public_name: publicName.nullable(),
  tags: z.array(text),
  notes: text,
  status,
  reason: text.nullable().meta({ description: 'Why it is failed or errored' }),
  checked_in_at: time.nullable(),
  last_report: report.nullable(),
  check_in_url: text,
  interval,
  type: z.object({ interval }),
  alert_type: alertType,
  alert_email: z.array(text),
  ...due,
  deadline: time.nullable(),
  missing_since: time.nullable(),
  silenced,
  ...runRules,
  acknowledged: acknowledgement,
  needs: z.array(text).meta({
    description: 'Tokens and tag:<tag> of what must be well for its alarm that it is missing to be told',
  }),
  held,
  created_at: time,
});

const changeable = {
  name: text.max(255),
  public_name: publicName.max(255).nullable(),
  interval,
  type: z.object({ interval }),
  alert_type: alertType,
  alert_email: z.union([z.array(text), text]).nullable(),
  notes: text.max(10_000).nullable(),
  tags: z.array(text.max(100)).max(50).nullable(),
  ...due,
  ...runRules,
  needs: z
    .array(text.max(104))
    .max(MOST_NEEDS)
    .nullable()
    .meta({ description: 'Tokens and tag:<tag>; null and [] need nothing' }),
  failures_before_alert: failures.nullable(),
  expect: z
    .array(expectation.partial().required({ value: true }))
    .max(MOST_EXPECTATIONS)
    .nullable(),
};

export const snitchChanges = z.object(changeable).partial();
export const newSnitch = snitchChanges.required({ name: true });
export const tags = z.array(text);
export const acknowledging = z
  .object({ note: text.max(LONGEST_NOTE).nullable(), by: text.max(LONGEST_BY).nullable() })
  .partial();
export const pause = z
  .object({ until: text.meta({ description: 'healthy, unpaused or a future time' }) })
  .partial();
