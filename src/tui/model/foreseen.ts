/** The next runs of a schedule that is being typed. The server works them out a moment after each change. */
import type { ScheduleInput } from '../../api/calls.ts';
import type { WireError } from '../../api/wire.ts';
import type { WireScheduleCheck } from '../../api/wire-explanation.ts';
import type { Attribute } from './form-fields.ts';

export type Problems = Readonly<Partial<Record<Attribute, string>>>;

export interface Preview {
  /** What was asked last, as a text to compare; null if there is no schedule. */
  asked: string | null;
  /** Null until the answer has come. */
  answer: WireScheduleCheck | null;
  /** What is wrong with a field, in words. */
  problems: Problems;
  /** Why there is no answer, if that does not belong to a field. */
  error: string | null;
  /** Whether the server is too old to know schedules. */
  isUnknown: boolean;
}

export const NO_PREVIEW: Preview = {
  asked: null,
  answer: null,
  problems: {},
  error: null,
  isUnknown: false,
};

/** What to ask the server, or what is known to be wrong without asking. */
export type Question = { input: ScheduleInput } | { problems: Problems };

/** What came back: an answer, or a refusal. */
export interface Foreseen {
  asked: string;
  answer: WireScheduleCheck | null;
  validations: NonNullable<WireError['validations']>;
  error: string | null;
  isUnknown: boolean;
}
