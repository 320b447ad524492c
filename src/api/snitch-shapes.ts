/** What answers that show snitches must look like. */
import { flag, list, nullable, number, object, optional, type Shape, simple, text, time } from './shape.ts';
import type { WireExpectation, WireReport, WireSchedule, WireSnitch } from './wire.ts';
import type { WireAcknowledgement, WireHold, WireSilenced } from './wire-kept-back.ts';

export const TEXTS = list(text);

const REPORT = object<WireReport>({
  at: time,
  outcome: text as Shape<WireReport['outcome']>,
  exit_status: nullable(number),
  message: nullable(text),
  reason: optional(text) as Shape<WireReport['reason']>,
});

/** Which of the three forms a schedule has is left to whoever shows it. */
export const SCHEDULE = object<WireSchedule>({});

/** When a job is due, and how its runs must look: older servers leave it out. */
export const DUE = {
  schedule: optional(nullable(SCHEDULE)) as Shape<WireSnitch['schedule']>,
  timezone: optional(nullable(text)) as Shape<WireSnitch['timezone']>,
  grace: optional(nullable(number)) as Shape<WireSnitch['grace']>,
  max_runtime: optional(nullable(number)) as Shape<WireSnitch['max_runtime']>,
};

export const EXPECTATION = object<WireExpectation>({
  value: text,
  min: nullable(number),
  max: nullable(number),
  of_usual: nullable(list(nullable(number))) as Shape<WireExpectation['of_usual']>,
  required: flag,
});

/** What a run must look like: older servers leave it out. */
export const RUN = {
  min_runtime: optional(nullable(number)) as Shape<WireSnitch['min_runtime']>,
  failures_before_alert: optional(number) as Shape<WireSnitch['failures_before_alert']>,
  expect: optional(nullable(list(EXPECTATION))) as Shape<WireSnitch['expect']>,
};

export const VALUES = simple<Record<string, number>>(
  'numbers by name',
  (value) => typeof value === 'object' && value !== null && Object.values(value).every(Number.isFinite),
);

const ACKNOWLEDGEMENT = object<WireAcknowledgement>({ at: time, note: nullable(text), by: text });
export const SILENCED = object<WireSilenced>({ id: text, until: time, by: text, note: text });
export const HOLD = object<WireHold>({
  by: nullable(object<{ token: string; name: string }>({ token: text, name: text })),
  since: time,
  until: nullable(time),
});

/** What it needs, and the alert that is held: older servers leave it out. */
export const NEEDS = {
  needs: optional(TEXTS) as Shape<WireSnitch['needs']>,
  held: optional(nullable(HOLD)) as Shape<WireSnitch['held']>,
};

export const SNITCH = object<WireSnitch>({
  token: text,
  name: text,
  public_name: optional(nullable(text)) as Shape<WireSnitch['public_name']>,
  tags: TEXTS,
  notes: text,
  status: text as Shape<WireSnitch['status']>,
  reason: optional(nullable(text)) as Shape<WireSnitch['reason']>,
  checked_in_at: nullable(time),
  last_report: optional(nullable(REPORT)) as Shape<WireSnitch['last_report']>,
  check_in_url: text,
  interval: text,
  alert_type: text as Shape<WireSnitch['alert_type']>,
  alert_email: TEXTS,
  ...DUE,
  deadline: optional(nullable(time)) as Shape<WireSnitch['deadline']>,
  missing_since: optional(nullable(time)) as Shape<WireSnitch['missing_since']>,
  silenced: optional(nullable(SILENCED)) as Shape<WireSnitch['silenced']>,
  ...RUN,
  acknowledged: optional(nullable(ACKNOWLEDGEMENT)) as Shape<WireSnitch['acknowledged']>,
  ...NEEDS,
  created_at: time,
});

/** What the stream says about a snitch that was deleted. */
export const DELETED = object<{ token: string }>({ token: text });
