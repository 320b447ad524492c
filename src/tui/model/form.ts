/** The form that creates or changes a snitch. The API checks what is typed, and the fields show its messages. */
import type { SnitchInput } from '../../api/client.ts';
import type { WireError, WireSnitch } from '../../api/wire.ts';
import { scheduleWithZone } from '../../core/schedule-name.ts';
import { editable, printable } from '../../text/printable.ts';
import { fieldWith, type TextField, typeInto } from './text-field.ts';

export type Attribute = 'name' | 'interval' | 'alert_type' | 'tags' | 'alert_email' | 'notes';

export interface FormField {
  attribute: Attribute;
  label: string;
  hint: string;
  /** Shown below the field, whether it has the focus or not; empty for nothing. */
  note: string;
  field: TextField;
  /** What the field showed first. Only fields that differ are sent. */
  initial: string;
}

export interface FormOverlay {
  kind: 'form';
  /** The snitch that is being changed; null for a new one. */
  token: string | null;
  fields: readonly FormField[];
  focus: number;
  problems: Readonly<Partial<Record<Attribute, string>>>;
  /** What the server said that does not belong to a field. */
  error: string | null;
  /** Whether the form was sent and is not answered yet. */
  busy: boolean;
}

const LABELS: Record<Attribute, { label: string; hint: string }> = {
  name: { label: 'Name', hint: '' },
  interval: {
    label: 'Interval',
    hint: '1_minute … 30_minute, hourly, 2_hour … 12_hour, daily, weekly, monthly',
  },
  alert_type: { label: 'Alert type', hint: 'basic or smart' },
  tags: { label: 'Tags', hint: 'separated by commas' },
  alert_email: { label: 'Alert email', hint: 'separated by commas; empty: all members' },
  notes: { label: 'Notes', hint: '\\n for a new line' },
};

export function newForm(): FormOverlay {
  return formOf(null, {
    name: '',
    interval: 'daily',
    alert_type: 'basic',
    tags: '',
    alert_email: '',
    notes: '',
  });
}

export function editForm(snitch: WireSnitch): FormOverlay {
  return formOf(
    snitch.token,
    {
      name: snitch.name,
      interval: snitch.interval,
      alert_type: snitch.alert_type,
      tags: snitch.tags.join(', '),
      alert_email: snitch.alert_email.join(', '),
      notes: snitch.notes.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'),
    },
    { interval: replacedBy(snitch) },
  );
}

/** Only fields that were changed are sent, so that the schedule stays unless another interval is typed. */
function replacedBy({ schedule, timezone }: WireSnitch): string {
  if (!schedule) return '';
  const words = printable(scheduleWithZone(schedule, timezone, 'time zone of the case'));
  return `is due by its schedule, ${words}: another interval replaces the schedule`;
}

function formOf(
  token: string | null,
  values: Record<Attribute, string>,
  notes: Partial<Record<Attribute, string>> = {},
): FormOverlay {
  const fields = (Object.keys(LABELS) as Attribute[]).map((attribute) => {
    const initial = editable(values[attribute]);
    return {
      attribute,
      ...LABELS[attribute],
      note: notes[attribute] ?? '',
      field: fieldWith(initial),
      initial,
    };
  });
  return { kind: 'form', token, fields, focus: 0, problems: {}, error: null, busy: false };
}

export function moveFocus(form: FormOverlay, by: number): FormOverlay {
  const count = form.fields.length;
  return { ...form, focus: (form.focus + by + count) % count };
}

export function editField(form: FormOverlay, change: (field: TextField) => TextField | null): FormOverlay {
  const fields = form.fields.map((entry, index) =>
    index === form.focus ? { ...entry, field: change(entry.field) ?? entry.field } : entry,
  );
  return { ...form, fields };
}

export function typeIntoForm(form: FormOverlay, key: string): FormOverlay {
  return editField(form, (field) => typeInto(field, key));
}

/** What to send: everything for a new snitch, otherwise only what was changed. */
export function inputOf({ token, fields }: FormOverlay): SnitchInput {
  const input: SnitchInput = {};
  for (const { attribute, field, initial } of fields) {
    if (token !== null && field.text === initial) continue;
    Object.assign(input, { [attribute]: typedValue(attribute, field.text) });
  }
  return input;
}

function typedValue(attribute: Attribute, text: string): string | string[] {
  if (attribute === 'notes') return text.replace(/\\(n|\\)/g, (_, code) => (code === 'n' ? '\n' : '\\'));
  if (attribute !== 'tags' && attribute !== 'alert_email') return text;
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Shows the server's refusal at the fields that it names, and puts the focus on the first of them. */
export function refuse(
  form: FormOverlay,
  error: string,
  validations: NonNullable<WireError['validations']>,
): FormOverlay {
  const problems: Partial<Record<Attribute, string>> = {};
  const others: string[] = [];
  for (const { attribute, message } of validations) {
    const field = form.fields.find((entry) => entry.attribute === attribute);
    if (field) problems[field.attribute] = printable(message);
    else others.push(`${attribute} ${message}`);
  }
  const first = form.fields.findIndex((entry) => problems[entry.attribute] !== undefined);
  const named = Object.keys(problems).length > 0 && others.length === 0;
  return {
    ...form,
    busy: false,
    problems,
    focus: first === -1 ? form.focus : first,
    error: named ? null : printable(others.join('; ') || error),
  };
}
