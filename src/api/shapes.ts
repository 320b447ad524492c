/**
 * What the answers of a server must look like. They are checked as they come in, so anything else at the server's
 * address leads to one clear error. Only the fields that this program uses are checked; a server may send more.
 */
import { flag, list, nullable, number, object, optional, type Shape, text, time } from './shape.ts';
import { DUE, RUN, SCHEDULE, TEXTS, VALUES } from './snitch-shapes.ts';
import type {
  WireAlert,
  WireApiKey,
  WireAudience,
  WireCase,
  WireChannel,
  WireCheckedChannel,
  WireCheckIn,
  WireDelivery,
  WireHours,
  WireImportCheck,
  WireImported,
  WireMailCheck,
  WireOwnership,
  WireWebhook,
} from './wire.ts';
import type { WireBadge } from './wire-badge.ts';
import type {
  WireExplanation,
  WireRun,
  WireRuns,
  WireScheduleCheck,
  WireScheduleShown,
  WireValue,
} from './wire-explanation.ts';
import type { WirePause, WireSilence, WireStretch } from './wire-kept-back.ts';

export const CHECK_IN = object<WireCheckIn>({
  id: text,
  at: time,
  outcome: text as Shape<WireCheckIn['outcome']>,
  exit_status: nullable(number),
  message: nullable(text),
  duration_ms: nullable(number),
  source: nullable(text),
  output: nullable(text),
  values: optional(nullable(VALUES)) as Shape<WireCheckIn['values']>,
  dropped_values: optional(TEXTS) as Shape<WireCheckIn['dropped_values']>,
  reason: optional(nullable(text)) as Shape<WireCheckIn['reason']>,
});

export const CASE = object<WireCase>({
  id: text,
  name: text,
  timezone: text,
  members: TEXTS,
  reminders: text as Shape<WireCase['reminders']>,
  max_snitches: nullable(number),
  error_notices: flag,
  on_hold: flag,
  created_at: time,
});

export const API_KEY = object<WireApiKey>({
  id: text,
  name: text,
  scope: text as Shape<WireApiKey['scope']>,
  created_at: time,
  last_used_at: nullable(time),
  key: optional(text) as Shape<string>,
});

export const WEBHOOK = object<WireWebhook>({
  id: text,
  url: text,
  created_at: time,
  secret: optional(text) as Shape<string>,
});

export const CHANNEL = object<WireChannel>({
  id: text,
  kind: text,
  name: text,
  settings: object<WireChannel['settings']>({}),
  events: TEXTS,
  tags: TEXTS,
  after: number,
  hours: nullable(object<WireHours>({ timezone: text, days: TEXTS, from: text, to: text })),
  refused: nullable(object<{ at: string; error: string }>({ at: time, error: text })),
  created_at: time,
});

const STRETCH = object<WireStretch>({ from: time, to: time });

export const BADGE = object<WireBadge>({
  id: text,
  url: text,
  token: nullable(text),
  tag: nullable(text),
  name: nullable(text),
  public_name: nullable(text),
  label: nullable(text),
  created_at: time,
});

export const SILENCE = object<WireSilence>({
  id: text,
  tags: nullable(TEXTS),
  tokens: nullable(TEXTS),
  all: flag,
  from: nullable(time),
  to: nullable(time),
  schedule: nullable(SCHEDULE) as Shape<WireSilence['schedule']>,
  duration: nullable(number),
  timezone: nullable(text),
  note: text,
  by: text,
  created_at: time,
  active: flag,
  current: nullable(STRETCH),
  next: nullable(STRETCH),
  ended_at: nullable(time),
  unknown_tags: optional(TEXTS) as Shape<string[]>,
});

const CHECKED_CHANNEL = object<WireCheckedChannel>({
  kind: text,
  name: text,
  settings: object<WireChannel['settings']>({}),
  events: TEXTS,
  tags: TEXTS,
});

export const DELIVERY = object<WireDelivery>({
  id: text,
  alert: text,
  channel: text as Shape<WireDelivery['channel']>,
  target: text,
  state: text as Shape<WireDelivery['state']>,
  attempts: number,
  last_error: nullable(text),
  next_attempt_at: nullable(time),
  delivered_at: nullable(time),
});

const NOTICE = object<NonNullable<WireAlert['notice']>>({
  from: time,
  to: time,
  postponed: TEXTS,
  postponed_count: number,
});

export const ALERT = object<WireAlert>({
  id: text,
  type: text,
  timestamp: time,
  snitch: nullable(
    object<NonNullable<WireAlert['snitch']>>({
      token: text,
      name: text,
      notes: text,
      tags: TEXTS,
      status: text,
      previous_status: text,
    }),
  ),
  deliveries: list(DELIVERY),
  reason: optional(text) as Shape<string>,
  notice: optional(NOTICE) as Shape<NonNullable<WireAlert['notice']>>,
});

const INSTANT = nullable(object<{ at: string; local: string }>({ at: time, local: text }));

const SCHEDULE_SHOWN = object<WireScheduleShown>({
  timezone: text,
  grace: number,
  runs: list(
    object<WireScheduleShown['runs'][number]>({
      at: time,
      local: text,
      deadline: time,
      deadline_local: text,
    }),
  ),
});

const VALUE = object<WireValue>({
  name: text,
  last: number,
  at: time,
  usual: nullable(number),
  runs: number,
});

const RUNS = object<WireRuns>({
  open: list(object<WireRuns['open'][number]>({ started_at: time, overruns_at: nullable(time) })),
  usual_ms: nullable(number),
});

const PLANNED = object<NonNullable<WireExplanation['planned']>>({
  from: time,
  to: time,
  by: text,
  note: text,
});

const PAUSE = object<WirePause>({
  until: text,
  by: nullable(object<NonNullable<WirePause['by']>>({ name: text, at: time })),
});

export const EXPLANATION = object<WireExplanation>({
  status: text as Shape<WireExplanation['status']>,
  reason: optional(nullable(text)) as Shape<WireExplanation['reason']>,
  timezone: text,
  period: object<WireExplanation['period']>({ start: time, end: time }),
  deadline: INSTANT,
  next_alert: INSTANT,
  planned: optional(nullable(PLANNED)) as Shape<WireExplanation['planned']>,
  paused: optional(nullable(PAUSE)) as Shape<WireExplanation['paused']>,
  schedule: optional(nullable(SCHEDULE_SHOWN)) as Shape<WireExplanation['schedule']>,
  values: optional(list(VALUE)) as Shape<WireValue[]>,
  runs: optional(RUNS) as Shape<NonNullable<WireExplanation['runs']>>,
  reasons: TEXTS,
  notify: object<WireExplanation['notify']>({
    emails: TEXTS,
    webhooks: TEXTS,
    channels: optional(TEXTS) as Shape<string[]>,
  }),
});

export const OWNERSHIP = object<WireOwnership>({ token: text, owner: text });

const IMPORTED = object<WireImported>({
  token: nullable(text),
  name: text,
  interval: text,
  alert_type: text as Shape<WireImported['alert_type']>,
  alert_email: TEXTS,
  notes: text,
  tags: TEXTS,
  ...DUE,
  ...RUN,
});

export const IMPORT_CHECK = object<WireImportCheck>({
  snitches: list(IMPORTED),
  case: object<WireImportCheck['case']>({}),
  problems: list(object<WireImportCheck['problems'][number]>({ attribute: text, message: text })),
  room: nullable(number),
  channels: optional(list(CHECKED_CHANNEL)) as Shape<WireCheckedChannel[]>,
  channel_room: optional(number) as Shape<number>,
});

export const MAINTENANCE = object<{ enabled: boolean }>({ enabled: flag });

export const READINESS = object<{
  status: string;
  problems?: string[];
  progress?: string[];
  warnings?: string[];
}>({
  status: text,
  problems: optional(TEXTS) as Shape<string[]>,
  progress: optional(TEXTS) as Shape<string[]>,
  warnings: optional(TEXTS) as Shape<string[]>,
});

export const MAIL_CHECK = object<WireMailCheck>({ server: nullable(text), problem: nullable(text) });

export const SCHEDULE_CHECK = object<WireScheduleCheck>({
  interval: text,
  timezone: text,
  grace: number,
  runs: list(object<WireRun>({ at: time, deadline: time })),
});

export const AUDIENCE = object<WireAudience>({ emails: TEXTS, webhooks: TEXTS, sends_email: flag });
