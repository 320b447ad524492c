/** Which settings of a case its own keys may change, and which only an administrator may. */
import { z } from 'zod';
import type { CaseSettings } from '../../core/case.ts';
import { isTimeZone, spelledTimeZone } from '../../core/interval.ts';
import { validateMembers } from '../../core/validation.ts';

/** One line of text that is not blank. */
export function line(limit: number) {
  return z
    .string({ error: ({ input }) => (input == null ? `can't be blank` : 'must be a string') })
    .refine((text) => text.trim() !== '', { error: `can't be blank`, abort: true })
    .refine((text) => text.isWellFormed(), 'must be well-formed Unicode')
    .refine((text) => !/\p{Cc}/u.test(text), 'must not contain control characters')
    .max(limit, `is too long (maximum is ${limit} characters)`);
}

const timezone = z
  .string({ error: 'must be a string' })
  .refine(isTimeZone, {
    error: 'is not a time zone: use an IANA name such as Europe/Berlin or UTC',
    abort: true,
  })
  .transform(spelledTimeZone);

const members = z.unknown().transform((given, context): string[] => {
  const { value, validations } = validateMembers(given);
  if (!validations) return value;
  for (const { message } of validations) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const reminders = z.enum(['period', 'hourly', 'daily', 'off'], {
  error: 'must be one of period, hourly, daily, off',
});

const ownFields = { name: line(255), timezone, members, reminders };

const adminFields = {
  ...ownFields,
  max_snitches: z
    .int({ error: 'must be a whole number, or null for no limit' })
    .min(0, 'must not be negative')
    .nullable(),
  error_notices: z.boolean({ error: 'must be true or false' }),
  on_hold: z.boolean({ error: 'must be true or false' }),
};

type AdminFields = z.output<z.ZodObject<typeof adminFields>>;
type Given = { [Field in keyof AdminFields]?: AdminFields[Field] | undefined };

function toSettings({ max_snitches, error_notices, on_hold, ...same }: Given): Partial<CaseSettings> {
  return {
    ...given(same),
    ...given({ maxSnitches: max_snitches, errorNotices: error_notices, onHold: on_hold }),
  };
}

/** Without the fields that were not given. */
function given<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}

/** What the case's own keys may change. */
export const caseChanges = z.object(ownFields).partial().transform(toSettings);

export const adminCaseChanges = z.object(adminFields).partial().transform(toSettings);

const DEFAULTS: Omit<CaseSettings, 'name'> = {
  timezone: 'UTC',
  members: [],
  reminders: 'period',
  errorNotices: true,
  maxSnitches: null,
  onHold: false,
};

/** The settings of a new case of which only the name is given. */
export function newCaseSettings(name: string): CaseSettings {
  return { ...DEFAULTS, name };
}

export const newCase = z
  .object(adminFields)
  .partial()
  .extend({ name: ownFields.name })
  .transform(({ name, ...others }): CaseSettings => ({ ...newCaseSettings(name), ...toSettings(others) }));
