/** The fields of the form, in their order, each named as in the API. */
import { EXPECT_FORMS } from '../../core/judgement/expect-text.ts';

export const FIELDS = {
  name: { label: 'Name', hint: '' },
  interval: {
    label: 'Interval',
    hint: '1_minute … 30_minute, hourly, 2_hour … 12_hour, daily, weekly, monthly',
  },
  schedule: {
    label: 'Schedule',
    hint: 'cron (0 3 * * 1-5), OnCalendar (Mon..Fri 03:00) or every 90m; empty: the interval decides',
  },
  timezone: { label: 'Time zone', hint: 'of the schedule, such as Europe/Berlin; empty: that of the case' },
  grace: {
    label: 'Grace',
    hint: 'how late it may be, such as 10m; empty: what follows from the schedule, else none',
  },
  max_runtime: {
    label: 'Max runtime',
    hint: 'a run that takes longer is alerted, such as 2h (needs reported starts); empty: not watched',
  },
  min_runtime: {
    label: 'Min runtime',
    hint: 'a shorter run counts as an error, such as 5m (needs reported starts); empty: none does',
  },
  failures_before_alert: {
    label: 'Alert after',
    hint: 'after this many errors in a row, 1 to 10; empty: after the first',
  },
  expect: {
    label: 'Expect',
    hint: `of the values that the job reports, separated by commas: ${EXPECT_FORMS}`,
  },
  needs: {
    label: 'Needs',
    hint: 'names, tokens or tag:TAG, separated by commas: while one is missing, nobody is told of this',
  },
  alert_type: { label: 'Alert type', hint: 'basic or smart' },
  public_name: { label: 'Public name', hint: 'its name on the status page; empty: the real one' },
  tags: { label: 'Tags', hint: 'separated by commas' },
  alert_email: { label: 'Alert email', hint: 'separated by commas; empty: all members' },
  notes: { label: 'Notes', hint: '\\n for a new line' },
} as const;

export type Attribute = keyof typeof FIELDS;

/** What a run must look like, what a snitch needs, and its public name. Older servers do not know these fields. */
export const RUN_ATTRIBUTES = [
  'max_runtime',
  'min_runtime',
  'failures_before_alert',
  'expect',
  'needs',
  'public_name',
] as const;

export type RunAttribute = (typeof RUN_ATTRIBUTES)[number];
