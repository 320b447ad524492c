/** The shapes of `api/wire.ts` as schemas, for the description of the API; the compiler keeps the two in step. */
import { z } from 'zod';
import type { WireLogEntry } from '../../api/log.ts';
import type {
  WireAlert,
  WireApiKey,
  WireCase,
  WireChannel,
  WireCheckIn,
  WireDelivery,
  WireError,
  WireMailCheck,
  WireOwnership,
  WireWebhook,
} from '../../api/wire.ts';
import type { WireScheduleCheck } from '../../api/wire-explanation.ts';
import { ACTIONS } from '../../core/activity/activity.ts';
import { CHANNEL_EVENTS, CHANNEL_KINDS, LONGEST_AFTER } from '../../core/channel.ts';
import { DAYS } from '../../core/hours/hours.ts';

import {
  double,
  interval,
  newSnitch,
  schedule,
  seconds,
  snitchChanges,
  text,
  time,
} from './snitch-schemas.ts';

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

const clockTime = text.meta({ pattern: '^\\d{1,2}:[0-5]\\d$' });
const hours = z.object({ timezone: text, days: z.array(z.enum(DAYS)), from: clockTime, to: clockTime });

export const channel = z.object({
  id: text,
  kind: z.enum(['webhook', 'email', ...CHANNEL_KINDS]),
  name: text,
  settings: z.record(text, text),
  events: channelEvents,
  tags: z.array(text),
  after: z.number(),
  hours: hours.nullable(),
  refused: z.object({ at: time, error: text }).nullable(),
  created_at: time,
}) satisfies z.ZodType<WireChannel>;

export const channelChanges = z
  .object({
    name: text.max(255),
    settings: z.record(text, text.nullable()),
    events: channelEvents.meta({ description: 'What it takes' }),
    tags: z.array(text.max(100)).max(50).meta({ description: 'Only snitches with one of them; [] for all' }),
    after: z.int().min(0).max(LONGEST_AFTER).meta({ description: 'Seconds that an alarm must last first' }),
    hours: hours.nullable().meta({ description: 'The hours in which it is told; null for always' }),
  })
  .partial();
const known = z.array(text).optional().meta({ description: 'Others of the same name are refused' });
export const newChannel = channelChanges.extend({ kind: channelKind, settings: z.record(text, text), known });
/** With an id it is an existing channel with changes. */
const channelToCheck = channelChanges.extend({ id: text.optional(), kind: channelKind });

export const delivery = z.object({
  id: text,
  alert: text,
  channel: z.enum(['webhook', 'email', ...CHANNEL_KINDS]),
  target: text,
  type: text,
  snitch: z.object({ token: text, name: text }).nullable(),
  state: z
    .enum(['pending', 'delivered', 'dead', 'dropped'])
    .meta({ description: 'Dropped means that what it would tell was over before its time came' }),
  waits: z
    .enum(['after', 'hours', 'opening'])
    .meta({ description: 'Only while it waits for its time: for `after` or for the hours of its target' })
    .optional(),
  sending: z.boolean(),
  attempts: z.number(),
  last_error: text.nullable(),
  next_attempt_at: time.nullable(),
  delivered_at: time.nullable(),
}) satisfies z.ZodType<Omit<WireDelivery, 'waits'>>;

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
}) satisfies z.ZodType<Omit<WireAlert, 'notice' | 'flapping' | 'refusal' | 'reason' | 'deliveries'>>;

const fieldChange = z.object({
  from: z.unknown().optional(),
  to: z.unknown().optional(),
  added: z.array(text).optional(),
  removed: z.array(text).optional(),
  more: z.number().optional(),
});

export const logEntry = z.object({
  id: text,
  at: time,
  by: z.object({ key: text.nullable(), name: text }),
  action: z.enum(ACTIONS),
  subject: z.object({ id: text.nullable(), name: text }),
  details: z.object({
    changes: z.record(text, fieldChange).optional(),
    until: text.meta({ description: 'healthy, unpaused, or a time' }).optional(),
    count: z.number().optional(),
    names: z.array(text).optional(),
    owner: text.nullable().optional(),
    scope: text.optional(),
    channel: text.optional(),
    note: text.optional(),
  }),
}) satisfies z.ZodType<Omit<WireLogEntry, 'details'>>;

const importedSnitches = z.array(newSnitch.extend({ token: text.optional() }));
export const newImport = z.object({ snitches: importedSnitches, owner: text.nullable().optional(), known });
export const manyChanges = z.object({ snitches: z.array(snitchChanges.extend({ token: text })) });
export const manyTokens = z.object({ tokens: z.array(text) });
export const importToCheck = z
  .object({ snitches: importedSnitches, case: caseChanges, channels: z.array(channelToCheck) })
  .partial();
export const importCheck = z.object({
  snitches: z.array(newSnitch.extend({ token: text.nullable() })),
  case: caseChanges,
  problems: z.array(z.object({ attribute: text, message: text })),
  room: z.number().nullable(),
  channels: z.array(channel.omit({ id: true, refused: true, created_at: true })).optional(),
  channel_room: z.number().optional(),
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
