/** The snitch that the address of a first check-in describes, with the fields of create in its query. */

/** The three kinds of schedule are separate parameters, in addition to these. */
const TEXTS = ['interval', 'alert_type', 'alert_email', 'notes', 'public_name', 'timezone'] as const;
const NUMBERS = ['grace', 'max_runtime', 'min_runtime', 'failures_before_alert'] as const;

export function isMakeAsked(query: string): boolean {
  return /^(1|true|yes)$/i.test(new URLSearchParams(query).get('create') ?? '');
}

/** As in the body of create, unchecked. Empty parameters count as not given. */
export function newSnitchIn(name: string, query: string): Record<string, unknown> {
  const given = new URLSearchParams(query);
  const body: Record<string, unknown> = { name };
  for (const field of TEXTS) if (given.get(field)) body[field] = given.get(field);
  for (const field of NUMBERS) if (given.get(field)) body[field] = numberOr(given.get(field) ?? '');
  const tags = given.getAll('tags').flatMap((list) => list.split(','));
  if (tags.length > 0) body.tags = tags.map((tag) => tag.trim());
  if (given.get('expect')) body.expect = jsonOr(given.get('expect') ?? '');
  const needs = given.getAll('needs').filter((one) => one.trim() !== '');
  if (needs.length > 0) body.needs = needs;
  const schedule = scheduleIn(given);
  if (Object.keys(schedule).length > 0) body.schedule = schedule;
  return body;
}

/** More than one kind is refused when the schedule is read. */
function scheduleIn(given: URLSearchParams): Record<string, unknown> {
  const schedule: Record<string, unknown> = {};
  for (const kind of ['cron', 'calendar'] as const) if (given.get(kind)) schedule[kind] = given.get(kind);
  if (given.get('every')) schedule.every = numberOr(given.get('every') ?? '');
  return schedule;
}

/** Anything but a whole number stays text, which create refuses in words. */
function numberOr(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** Anything but JSON stays text, which is refused too. */
function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
