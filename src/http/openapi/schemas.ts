/** The shapes of `api/wire.ts` as schemas, for the description of the API; the compiler holds the two together. */
import { z } from 'zod';
import type {
  WireAlert,
  WireApiKey,
  WireAudience,
  WireCase,
  WireChannel,
  WireCheckIn,
  WireDelivery,
  WireError,
  WireExplanation,
  WireMailCheck,
  WireOwnership,
  WireSchedule,
  WireScheduleCheck,
  WireSnitch,
  WireWebhook,
} from '../../api/wire.ts';
import { CHANNEL_EVENTS, CHANNEL_KINDS } from '../../core/channel.ts';
import { INTERVALS } from '../../core/interval.ts';
import { LONGEST_RUNTIME } from '../../core/run-fields.ts';
import { LONGEST_MIN_RUNTIME, MOST_EXPECTATIONS, MOST_FAILURES } from '../../core/run-rule-fields.ts';
import { LONGEST_EVERY, SHORTEST_EVERY } from '../../core/schedule/schedule.ts';
import { LONGEST_GRACE } from '../../core/schedule-fields.ts';

const time = z.string().meta({ format: 'date-time' });
const text = z.string();

export const interval = z.enum(INTERVALS as [string, ...string[]]);
export const status = z.enum(['pending', 'healthy', 'failed', 'errored', 'paused']);
const alertType = z.enum(['basic', 'smart']);

export const schedule: z.ZodType<WireSchedule> = z.union([
  z.object({ cron: text.max(500) }),
  z.object({ calendar: text.max(500) }),
  z.object({ every: z.number().min(SHORTEST_EVERY).max(LONGEST_EVERY) }),
]);

const seconds = z.number().min(0).max(LONGEST_GRACE);
const due = {
  schedule: schedule.nullable(),
  timezone: text.nullable(),
  grace: seconds.nullable(),
  max_runtime: z.number().min(1).max(LONGEST_RUNTIME).nullable(),
};

/** What a job reports, and what is compared with that. */
const double = z.number().meta({ format: 'double' });
const factor = z.number().min(0).meta({ format: 'double' }).nullable();

/** As it is answered; what is null or left out of one that is sent has no limit. */
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

export const snitch: z.ZodType<WireSnitch> = z.object({
  token: text,
  href: text,
  name: text,
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
  ...runRules,
  created_at: time,
});

const changeable = {
  name: text.max(255),
  interval,
  type: z.object({ interval }),
  alert_type: alertType,
  alert_email: z.union([z.array(text), text]).nullable(),
  notes: text.max(10_000).nullable(),
  tags: z.array(text.max(100)).max(50).nullable(),
  ...due,
  ...runRules,
  failures_before_alert: failures.nullable(),
  expect: z
    .array(expectation.partial().required({ value: true }))
    .max(MOST_EXPECTATIONS)
    .nullable(),
};

export const snitchChanges = z.object(changeable).partial();
export const newSnitch = snitchChanges.required({ name: true });
export const tags = z.array(text);
export const pause = z
  .object({ until: text.meta({ description: 'healthy, unpaused or a future time' }) })
  .partial();

export const checkIn: z.ZodType<WireCheckIn> = z.object({
  id: text,
  at: time,
  outcome: z.enum(['healthy', 'error', 'start', 'log']),
  exit_status: z.number().nullable(),
  message: text.nullable(),
  duration_ms: z.number().nullable(),
  source: text.nullable(),
  output: text.nullable(),
  values: z.record(text, double).nullable(),
  dropped_values: z.array(text),
  reason: text.nullable(),
});

const reminders = z.enum(['period', 'hourly', 'daily', 'off']);
const ownSettings = { name: text, timezone: text, members: z.array(text), reminders };
const adminSettings = {
  max_snitches: z.number().nullable(),
  error_notices: z.boolean(),
  on_hold: z.boolean(),
};

export const caseRecord: z.ZodType<WireCase> = z.object({
  id: text,
  ...ownSettings,
  ...adminSettings,
  created_at: time,
});
export const caseChanges = z.object(ownSettings).partial();
export const adminCaseChanges = z.object({ ...ownSettings, ...adminSettings }).partial();
export const newCase = adminCaseChanges.required({ name: true });

export const apiKey = z.object({
  id: text,
  name: text,
  scope: z.enum(['read', 'write', 'provision', 'admin']),
  created_at: time,
  last_used_at: time.nullable(),
}) satisfies z.ZodType<WireApiKey>;
export const createdApiKey = apiKey.extend({ key: text }) satisfies z.ZodType<WireApiKey>;
export const newApiKey = z.object({
  name: text,
  scope: z.enum(['read', 'write', 'provision']).default('write'),
});

export const webhook = z.object({
  id: text,
  url: text,
  notices: z.literal(true).optional(),
  created_at: time,
}) satisfies z.ZodType<WireWebhook>;
export const createdWebhook = webhook.extend({ secret: text }) satisfies z.ZodType<WireWebhook>;
export const newWebhook = z.object({ url: text.max(2_048), notices: z.boolean().default(false) });

const channelKind = z.enum(CHANNEL_KINDS);
const channelEvents = z.array(z.enum(CHANNEL_EVENTS));

export const channel = z.object({
  id: text,
  kind: z.enum(['webhook', 'email', ...CHANNEL_KINDS]),
  name: text,
  settings: z.record(text, text),
  events: channelEvents,
  tags: z.array(text),
  after: z.number(),
  hours: z.null(),
  refused: z.object({ at: time, error: text }).nullable(),
  created_at: time,
}) satisfies z.ZodType<WireChannel>;

export const channelChanges = z
  .object({
    name: text.max(255),
    settings: z.record(text, text.nullable()),
    events: channelEvents,
    tags: z.array(text.max(100)).max(50),
    after: z.literal(0),
    hours: z.null(),
  })
  .partial();
export const newChannel = channelChanges.extend({ kind: channelKind, settings: z.record(text, text) });

export const delivery: z.ZodType<WireDelivery> = z.object({
  id: text,
  alert: text,
  channel: z.enum(['webhook', 'email', ...CHANNEL_KINDS]),
  target: text,
  type: text,
  snitch: z.object({ token: text, name: text }).nullable(),
  state: z.enum(['pending', 'delivered', 'dead']),
  sending: z.boolean(),
  attempts: z.number(),
  last_error: text.nullable(),
  next_attempt_at: time.nullable(),
  delivered_at: time.nullable(),
});

const payloadStatus = z.enum(['pending', 'healthy', 'missing', 'errored', 'paused']);

export const alert = z.object({
  id: text,
  type: text,
  timestamp: time,
  notice: z
    .object({ from: time, to: time, postponed: z.array(text), postponed_count: z.number() })
    .meta({ description: 'Only on service.blind: the window in which no check-in could be received' })
    .optional(),
  refusal: z
    .object({ channel: z.object({ id: text, name: text, kind: text }), error: text })
    .meta({ description: 'Only on service.refused: what a service refuses for good, and of which channel' })
    .optional(),
  snitch: z
    .object({
      token: text,
      name: text,
      notes: text,
      tags: z.array(text),
      status: payloadStatus,
      previous_status: payloadStatus,
    })
    .nullable(),
  deliveries: z.array(delivery),
  reason: text.meta({ description: 'Why, in words' }).optional(),
  flapping: z
    .object({
      phase: z.enum(['begun', 'goes on', 'over']),
      changes: z.number(),
      since: time,
      changed_at: time,
    })
    .optional(),
}) satisfies z.ZodType<Omit<WireAlert, 'notice' | 'flapping' | 'refusal' | 'reason'>>;

export const audience = z.object({
  emails: z.array(text),
  webhooks: z.array(text),
  channels: z.array(text),
  sends_email: z.boolean(),
}) satisfies z.ZodType<WireAudience>;

const instant = z.object({ at: time, local: text });

export const explanation: z.ZodType<WireExplanation> = z.object({
  status,
  reason: text.nullable(),
  timezone: text,
  period: z.object({ start: time, end: time }),
  deadline: instant.nullable(),
  next_alert: instant.nullable(),
  missing_since: time.nullable(),
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

const importedSnitches = z.array(newSnitch.extend({ token: text.optional() }));
export const newImport = z.object({ snitches: importedSnitches, owner: text.nullable().optional() });
export const manyChanges = z.object({ snitches: z.array(snitchChanges.extend({ token: text })) });
export const manyTokens = z.object({ tokens: z.array(text) });
export const importToCheck = z.object({ snitches: importedSnitches, case: caseChanges }).partial();
export const importCheck = z.object({
  snitches: importedSnitches,
  case: caseChanges,
  problems: z.array(z.object({ attribute: text, message: text })),
  room: z.number().nullable(),
});
export const ownership: z.ZodType<WireOwnership> = z.object({ token: text, owner: text });
export const claim = z.object({ tokens: z.array(text), owner: text.nullable() });

export const mailCheck: z.ZodType<WireMailCheck> = z.object({
  server: text.nullable(),
  problem: text.nullable(),
});

export const scheduleToCheck = z.object({
  schedule,
  timezone: text.nullable().optional(),
  grace: seconds.nullable().optional(),
  from: time.nullable().optional(),
});

export const scheduleCheck: z.ZodType<WireScheduleCheck> = z.object({
  interval,
  timezone: text,
  grace: z.number(),
  runs: z.array(z.object({ at: time, deadline: time })),
});

export const maintenance = z.object({ enabled: z.boolean() });

export const error = z.object({
  type: text,
  error: text,
  validations: z.array(z.object({ attribute: text, message: text })).optional(),
}) satisfies z.ZodType<Omit<WireError, 'validations'>>;
