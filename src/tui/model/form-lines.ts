/** Draws the form as lines: the fields, below the schedule its next runs, and what the keys do. */
import type { WireScheduleCheck } from '../../api/wire-explanation.ts';
import { takeColumns, wrapWords } from '../../text/width.ts';
import type { Glyphs } from '../drawing/glyphs.ts';
import { asciiLines, type Line, type Span, widthOfLine } from '../drawing/line.ts';
import { type FormField, type FormOverlay, fieldOf } from './form.ts';
import type { Attribute } from './form-fields.ts';
import { fieldSpans } from './prompt-lines.ts';
import { runText } from './runs.ts';
import { readSchedule } from './schedule-text.ts';

const MARGIN = 2;
const LABEL = 13;

/** How many next runs the server returns. */
const RUNS = 5;

export interface FormLook {
  width: number;
  height: number;
  glyphs: Glyphs;
}

/** At most `height` lines, with the field that has the focus among them. */
export function formLines(form: FormOverlay, { width, height, glyphs }: FormLook): readonly Line[] {
  const title = form.token === null ? 'New snitch' : 'Edit snitch';
  const head: Line[] = [[{ text: title, bold: true }], []];
  const blocks = form.fields.map((field, index) =>
    fieldLines(form, field, index === form.focus, { width, glyphs }),
  );
  const tail = tailLines(form, width, glyphs);
  const start = head.length + blocks.slice(0, form.focus).flat().length;
  const end = start + (blocks[form.focus]?.length ?? 0);
  const fields = [...head, ...blocks.flat()];
  const all = fields.length + tail.length < height ? [...fields, []] : fields;
  const room = Math.max(1, height - tail.length);
  const from = end <= room ? 0 : Math.min(start, end - room);
  const lines = [...all.slice(from, from + room), ...tail.slice(0, Math.max(0, height - 1))];
  return glyphs.unicode ? lines : asciiLines(lines);
}

/** What is wrong with the form as a whole, and what the keys do. */
function tailLines(form: FormOverlay, width: number, glyphs: Glyphs): Line[] {
  const error = form.error === null ? [] : wrapWords(form.error, width);
  const hint = form.busy ? `Sending${glyphs.ellipsis}` : 'tab next field  enter save  esc cancel';
  return [...error.map((text): Line => [{ text, color: 'red', bold: true }]), [{ text: hint, dim: true }]];
}

type Look = Pick<FormLook, 'width' | 'glyphs'>;

function fieldLines(form: FormOverlay, field: FormField, isFocused: boolean, look: Look): Line[] {
  const { attribute, label, hint, note } = field;
  const { width, glyphs } = look;
  const room = Math.max(2, width - MARGIN - LABEL);
  const first: Line = [
    { text: isFocused ? `${glyphs.cursor} ` : ' '.repeat(MARGIN), bold: true },
    { text: label.padEnd(LABEL), bold: isFocused },
    ...(isFocused ? fieldSpans(field.field, room) : [{ text: takeColumns(field.field.text, room) }]),
  ];
  const lines = withProblem(first, problemOf(form, attribute), look);
  // The next runs come first: a short screen has no room for both, and the hint mattered before there was a schedule.
  if (attribute === placeOfPreview(form)) lines.push(...previewLines(form, look));
  for (const remark of [note, isFocused ? hint : '']) {
    if (remark !== '') lines.push(...below(remark, width, { dim: true }));
  }
  return lines;
}

/** What the server said about the form when it was sent, or says about the schedule while it is typed. */
function problemOf({ problems, preview, fields }: FormOverlay, attribute: Attribute): string | undefined {
  const isScheduled = fieldOf({ fields }, 'schedule').trim() !== '';
  return problems[attribute] ?? (isScheduled ? preview.problems[attribute] : undefined);
}

/** After the field if it fits on the line, or else below it. */
function withProblem(line: Line, problem: string | undefined, { width, glyphs }: Look): Line[] {
  if (problem === undefined) return [line];
  const span: Span = { text: `${glyphs.status.failed} ${problem}`, color: 'red', bold: true };
  const behind = [...line, { ...span, text: `  ${span.text}` }];
  if (widthOfLine(behind) <= width) return [behind];
  return [line, ...below(span.text, width, { color: 'red', bold: true })];
}

function below(text: string, width: number, style: Omit<Span, 'text'>): Line[] {
  // On a narrow screen the words are worth more than a straight edge.
  const indent = width < 60 ? 2 * MARGIN : MARGIN + LABEL;
  return wrapWords(text, Math.max(1, width - indent)).map((part) => [
    { text: ' '.repeat(indent) + part, ...style },
  ]);
}

const WHEN: readonly Attribute[] = ['schedule', 'timezone', 'grace'];

/** The field to show the next runs below: the focused one if it says when, or else `grace`. Null without a schedule. */
function placeOfPreview(form: FormOverlay): Attribute | null {
  if (fieldOf(form, 'schedule').trim() === '') return null;
  const focused = form.fields[form.focus]?.attribute;
  return focused !== undefined && WHEN.includes(focused) ? focused : 'grace';
}

function previewLines(form: FormOverlay, { width, glyphs }: Look): Line[] {
  const { answer, error, isUnknown, problems } = form.preview;
  const told = (text: string) => filled(below(text, width, { color: 'yellow' }));
  if (isUnknown && answer === null) {
    return below(`The server ${TOO_OLD}`, width, { color: 'yellow' });
  }
  if (error !== null) return told(`The next runs are not known: ${error}`);
  if (answer !== null) {
    return filled([...below(headingOf(form, answer), width, { dim: true }), ...runLines(answer, width)]);
  }
  if (Object.keys(problems).length > 0) return filled([]);
  return filled(below(`Working out the next runs${glyphs.ellipsis}`, width, { dim: true }));
}

const TOO_OLD = 'is too old to know schedules, and must be updated first.';

/** The number of lines stays the same while somebody types, so that nothing jumps. */
function filled(lines: Line[]): Line[] {
  return [...lines, ...Array.from({ length: Math.max(0, RUNS + 1 - lines.length) }, () => [])];
}

function headingOf(form: FormOverlay, { timezone }: WireScheduleCheck): string {
  const schedule = readSchedule(fieldOf(form, 'schedule'));
  const isEvery = 'value' in schedule && schedule.value !== null && 'every' in schedule.value;
  return isEvery ? `Next runs if it checks in now, ${timezone}:` : `Next runs, ${timezone}:`;
}

function runLines({ runs, timezone }: WireScheduleCheck, width: number): Line[] {
  if (runs.length === 0) return below('none', width, { dim: true });
  return runs.flatMap((run) => below(runText(run, timezone), width, {}));
}
