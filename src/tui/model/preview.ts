/** Asks for the next runs of what is being typed, and shows them. */
import { printable } from '../../text/printable.ts';
import { type Foreseen, NO_PREVIEW, type Question } from './foreseen.ts';
import { type FormOverlay, fieldOf } from './form.ts';
import type { Attribute } from './form-fields.ts';
import { readLength, readSchedule } from './schedule-text.ts';

/** Null if there is no schedule to ask about. */
export function questionOf(form: FormOverlay): Question | null {
  const schedule = readSchedule(fieldOf(form, 'schedule'));
  if ('problem' in schedule) return { problems: { schedule: schedule.problem } };
  if (schedule.value === null) return null;
  const grace = readLength(fieldOf(form, 'grace'));
  if ('problem' in grace) return { problems: { grace: grace.problem } };
  const timezone = fieldOf(form, 'timezone').trim();
  return {
    input: {
      schedule: schedule.value,
      ...(timezone === '' ? {} : { timezone }),
      ...(grace.value === null ? {} : { grace: grace.value }),
    },
  };
}

/** What has to be asked now, with the text by which its answer is recognised; null if nothing has to be asked. */
export function askAnew(form: FormOverlay): { form: FormOverlay; asked: string; question: Question } | null {
  const question = questionOf(form);
  if (question === null) return null;
  const asked = JSON.stringify(question);
  if (asked === form.preview.asked) return null;
  const { isUnknown } = form.preview;
  return { form: { ...form, preview: { ...NO_PREVIEW, asked, isUnknown } }, asked, question };
}

/** An answer to an earlier question is dropped. */
export function showForeseen(
  form: FormOverlay,
  { asked, answer, validations, error, isUnknown }: Foreseen,
): FormOverlay {
  if (form.preview.asked !== asked) return form;
  const problems: Partial<Record<Attribute, string>> = {};
  for (const { attribute, message } of validations) {
    const field = form.fields.find((one) => one.attribute === attribute);
    if (field) problems[field.attribute] = printable(message);
  }
  const isNamed = Object.keys(problems).length > 0;
  const preview = {
    asked,
    answer,
    problems,
    error: isNamed || error === null ? null : printable(error),
    isUnknown,
  };
  return { ...form, preview };
}
