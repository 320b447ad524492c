/** The fields of the form, in their order, each named as in the API. */

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
  alert_type: { label: 'Alert type', hint: 'basic or smart' },
  tags: { label: 'Tags', hint: 'separated by commas' },
  alert_email: { label: 'Alert email', hint: 'separated by commas; empty: all members' },
  notes: { label: 'Notes', hint: '\\n for a new line' },
} as const;

export type Attribute = keyof typeof FIELDS;
