/** The form that creates or changes a snitch. The API checks what is typed, and the fields show its messages. */
import type { WireError, WireSnitch } from '../../api/wire.ts';
import { editable, printable } from '../../text/printable.ts';
import { NO_PREVIEW, type Preview } from './foreseen.ts';
import { type Attribute, FIELDS, RUN_ATTRIBUTES, type RunAttribute } from './form-fields.ts';
import { expectationsText, needsText } from './rule-text.ts';
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
  /** An error from the server that does not belong to a field. */
  error: string | null;
  /** Whether the form was sent and the answer has not come yet. */
  busy: boolean;
  preview: Preview;
}

/** @param present snitches of the same server, which show what fields it knows; if there are none, it knows them all */
export function newForm(present: Iterable<WireSnitch>): FormOverlay {
  return formOf(null, {
    ...knownOf([...present]),
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

const UNLIMITED: Record<RunAttribute, string> = {
  max_runtime: '',
  min_runtime: '',
  failures_before_alert: '1',
  expect: '',
  needs: '',
  public_name: '',
};

/** The run fields of a new snitch, without those that the server does not know. */
function knownOf(present: readonly WireSnitch[]): Partial<Record<RunAttribute, string>> {
  const known = RUN_ATTRIBUTES.filter(
    (attribute) => present.length === 0 || present.some((snitch) => snitch[attribute] !== undefined),
  );
  return Object.fromEntries(known.map((attribute) => [attribute, UNLIMITED[attribute]]));
}

function runTexts(snitch: WireSnitch, present: readonly WireSnitch[]): Partial<Record<RunAttribute, string>> {
  const { max_runtime, min_runtime, failures_before_alert, expect } = snitch;
  return {
    ...(max_runtime === undefined ? {} : { max_runtime: lengthText(max_runtime) }),
    ...(min_runtime === undefined ? {} : { min_runtime: lengthText(min_runtime) }),
    ...(failures_before_alert === undefined ? {} : { failures_before_alert: String(failures_before_alert) }),
    ...(expect === undefined ? {} : { expect: expectationsText(expect) }),
    ...(snitch.public_name === undefined ? {} : { public_name: snitch.public_name ?? '' }),
    ...(snitch.needs === undefined ? {} : { needs: needsText(snitch.needs, present) }),
  };
}

/** @param present snitches of the same case, so that those which are needed are shown by name */
export function editForm(snitch: WireSnitch, present: Iterable<WireSnitch> = []): FormOverlay {
  return formOf(
    snitch.token,
    {
      name: snitch.name,
      interval: snitch.interval,
      schedule: scheduleText(snitch.schedule),
      timezone: snitch.timezone ?? '',
      grace: lengthText(snitch.grace),
      ...runTexts(snitch, [...present]),
      alert_type: snitch.alert_type,
      tags: snitch.tags.join(', '),
      alert_email: snitch.alert_email.join(', '),
      notes: snitch.notes.replaceAll('\\', '\\\\').replaceAll('\n', '\\n'),
    },
    { interval: snitch.schedule ? 'only shown: the schedule decides as long as there is one' : '' },
  );
}

type Values = Record<Exclude<Attribute, RunAttribute>, string> & Partial<Record<RunAttribute, string>>;

/** Only fields that have a value here are shown. */
function formOf(
  token: string | null,
  values: Values,
  notes: Partial<Record<Attribute, string>> = {},
): FormOverlay {
  const fields = (Object.keys(FIELDS) as Attribute[]).flatMap((attribute) => {
    const value = values[attribute];
    if (value === undefined) return [];
    const initial = editable(value);
    const note = notes[attribute] ?? '';
    return [{ attribute, ...FIELDS[attribute], note, field: fieldWith(initial), initial }];
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
  // What was wrong with the previous text need not be wrong with this one.
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
