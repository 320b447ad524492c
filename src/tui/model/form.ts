/** The form that creates or changes a snitch. The API checks what is typed, and the fields show its messages. */
import type { WireError, WireSnitch } from '../../api/wire.ts';
import { editable, printable } from '../../text/printable.ts';
import { NO_PREVIEW, type Preview } from './foreseen.ts';
import { type Attribute, FIELDS } from './form-fields.ts';
import { lengthText, scheduleText } from './schedule-text.ts';
import { fieldWith, type TextField, typeInto } from './text-field.ts';

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
  preview: Preview;
}

export function newForm(): FormOverlay {
  return formOf(null, {
    name: '',
    interval: 'daily',
    schedule: '',
    timezone: '',
    grace: '',
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
      schedule: scheduleText(snitch.schedule),
      timezone: snitch.timezone ?? '',
      grace: lengthText(snitch.grace),
      alert_type: snitch.alert_type,
      tags: snitch.tags.join(', '),
      alert_email: snitch.alert_email.join(', '),
      notes: snitch.notes.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'),
    },
    { interval: snitch.schedule ? 'only shown: the schedule decides as long as there is one' : '' },
  );
}

function formOf(
  token: string | null,
  values: Record<Attribute, string>,
  notes: Partial<Record<Attribute, string>> = {},
): FormOverlay {
  const fields = (Object.keys(FIELDS) as Attribute[]).map((attribute) => {
    const initial = editable(values[attribute]);
    return {
      attribute,
      ...FIELDS[attribute],
      note: notes[attribute] ?? '',
      field: fieldWith(initial),
      initial,
    };
  });
  return {
    kind: 'form',
    token,
    fields,
    focus: 0,
    problems: {},
    error: null,
    busy: false,
    preview: NO_PREVIEW,
  };
}

export function moveFocus(form: FormOverlay, by: number): FormOverlay {
  const count = form.fields.length;
  return { ...form, focus: (form.focus + by + count) % count };
}

export function editField(form: FormOverlay, change: (field: TextField) => TextField | null): FormOverlay {
  const fields = form.fields.map((entry, index) =>
    index === form.focus ? { ...entry, field: change(entry.field) ?? entry.field } : entry,
  );
  const focused = form.fields[form.focus];
  if (!focused || focused.field.text === fields[form.focus]?.field.text) return { ...form, fields };
  // What was wrong with the text before need not be wrong with this one.
  const { [focused.attribute]: _fixed, ...problems } = form.problems;
  return { ...form, fields, problems };
}

/** The text of a field as it is now. */
export function fieldOf({ fields }: Pick<FormOverlay, 'fields'>, attribute: Attribute): string {
  return fields.find((one) => one.attribute === attribute)?.field.text ?? '';
}

export function typeIntoForm(form: FormOverlay, key: string): FormOverlay {
  return editField(form, (field) => typeInto(field, key));
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
  const named = Object.keys(problems).length > 0 && others.length === 0;
  return showProblems(form, problems, named ? null : printable(others.join('; ') || error));
}

/** Puts the focus on the first field that something is wrong with. */
export function showProblems(
  form: FormOverlay,
  problems: FormOverlay['problems'],
  error: string | null = null,
): FormOverlay {
  const first = form.fields.findIndex((entry) => problems[entry.attribute] !== undefined);
  return { ...form, busy: false, problems, focus: first === -1 ? form.focus : first, error };
}
