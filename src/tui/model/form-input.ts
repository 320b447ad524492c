/** What a form sends: everything for a new snitch, and otherwise only what was changed. */
import type { SnitchInput } from '../../api/client.ts';
import { type FormField, type FormOverlay, fieldOf } from './form.ts';
import type { Attribute } from './form-fields.ts';
import { partsOf, readCount, readExpectations } from './rule-text.ts';
import { type Read, readLength, readSchedule } from './schedule-text.ts';

/** Nothing is sent while there are problems. */
export interface FormInput {
  input: SnitchInput;
  problems: Readonly<Partial<Record<Attribute, string>>>;
}

export function readForm(form: FormOverlay): FormInput {
  const input: SnitchInput = {};
  const problems: Partial<Record<Attribute, string>> = {};
  for (const field of form.fields) {
    if (!isSent(form, field)) continue;
    const read = typedValue(field);
    if ('problem' in read) problems[field.attribute] = read.problem;
    else Object.assign(input, { [field.attribute]: read.value });
  }
  if (fieldOf(form, 'schedule').trim() === '') return withoutSchedule(form, { input, problems });
  // An interval that is sent alone would replace the schedule that the form shows.
  const schedule = readSchedule(fieldOf(form, 'schedule'));
  if (input.interval !== undefined && 'value' in schedule) input.schedule = schedule.value;
  return { input, problems };
}

function isSent({ token, fields }: FormOverlay, { attribute, field, initial }: FormField): boolean {
  const isChanged = field.text !== initial;
  if (token !== null || isChanged) return isChanged;
  switch (attribute) {
    case 'schedule':
    case 'timezone':
    case 'grace':
    case 'max_runtime':
    case 'min_runtime':
    case 'failures_before_alert':
    case 'expect':
    case 'needs':
    case 'public_name':
      return false;
    case 'interval':
      // An interval that follows from the schedule is better than one that nobody has typed.
      return fieldOf({ fields }, 'schedule').trim() === '';
    default:
      return true;
  }
}

/** The time zone belongs to the schedule, so it is removed with it. */
function withoutSchedule(form: FormOverlay, { input, problems }: FormInput): FormInput {
  if (input.schedule === null && input.timezone === undefined && fieldOf(form, 'timezone') !== '') {
    return { input: { ...input, timezone: null }, problems };
  }
  if (!input.timezone) return { input, problems };
  return { input, problems: { ...problems, timezone: 'needs a schedule, and there is none' } };
}

function typedValue({ attribute, field: { text } }: FormField): Read<unknown> {
  switch (attribute) {
    case 'notes':
      return { value: text.replace(/\\(n|\\)/g, (_, code) => (code === 'n' ? '\n' : '\\')) };
    case 'tags':
    case 'needs':
    case 'alert_email':
      return { value: partsOf(text) };
    case 'schedule':
      return readSchedule(text);
    case 'grace':
    case 'max_runtime':
    case 'min_runtime':
      return readLength(text);
    case 'failures_before_alert':
      return readCount(text);
    case 'expect':
      return readExpectations(text);
    case 'timezone':
    case 'public_name':
      return { value: text.trim() === '' ? null : text.trim() };
    default:
      return { value: text };
  }
}
