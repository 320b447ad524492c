/** What a client may set on how a run must look: `min_runtime`, `failures_before_alert` and `expect`. */
import type { Validation } from './errors.ts';
import { type Body, isObject } from './input.ts';
import { exactNumber } from './judgement/number-words.ts';
import { ANY_RUN, type Expectation, type RunRules } from './judgement/rules.ts';
import { isValueName, VALUE_NAME_RULE } from './judgement/values.ts';
import type { Checked } from './validation.ts';

/** Seconds: 31 days. */
export const LONGEST_MIN_RUNTIME = 2_678_400;
export const MOST_FAILURES = 10;
export const MOST_EXPECTATIONS = 20;

/** Those of the three that are given; null resets one to its default. */
export function readRunRules(body: Body): Checked<Partial<RunRules>> {
  const value: Partial<RunRules> = {};
  const validations: Validation[] = [];
  const minRuntime = wholeNumber(body.min_runtime, 'min_runtime', {
    most: LONGEST_MIN_RUNTIME,
    unit: ' of seconds',
  });
  if (minRuntime.validations) validations.push(...minRuntime.validations);
  else if (body.min_runtime !== undefined) value.minRuntime = minRuntime.value;
  const failures = wholeNumber(body.failures_before_alert, 'failures_before_alert', { most: MOST_FAILURES });
  if (failures.validations) validations.push(...failures.validations);
  else if (body.failures_before_alert !== undefined) {
    value.failuresBeforeAlert = failures.value ?? ANY_RUN.failuresBeforeAlert;
  }
  const expect = validateExpect(body.expect);
  if (expect.validations) validations.push(...expect.validations);
  else if (body.expect !== undefined) value.expect = expect.value;
  return validations.length > 0 ? { validations } : { value };
}

function wholeNumber(
  given: unknown,
  attribute: string,
  { most, unit = '' }: { most: number; unit?: string },
): Checked<number | null> {
  if (given === undefined || given === null) return { value: null };
  if (Number.isInteger(given) && Number(given) >= 1 && Number(given) <= most) return { value: Number(given) };
  return refuse(`must be a whole number${unit} from 1 to ${most}`, attribute);
}

const EXAMPLE = '[{"value": "bytes", "min": 1}]';

/** The expectations in their full form, or null for none. */
export function validateExpect(given: unknown): Checked<Expectation[] | null> {
  if (given === undefined || given === null) return { value: null };
  if (!Array.isArray(given)) return refuse(`must be a list such as ${EXAMPLE}`);
  if (given.length > MOST_EXPECTATIONS) {
    return refuse(`has too many expectations (maximum is ${MOST_EXPECTATIONS})`);
  }
  const expectations: Expectation[] = [];
  for (const [index, item] of (given as unknown[]).entries()) {
    const read = readExpectation(item);
    if (typeof read === 'string') return refuse(`${nameOf(item, index)} ${read}`);
    if (expectations.some(({ value }) => value === read.value)) {
      return refuse(`names ${read.value} twice: say all of it in one`);
    }
    expectations.push(read);
  }
  return { value: expectations.length === 0 ? null : expectations };
}

/** How a refusal names one item of the list. */
function nameOf(item: unknown, index: number): string {
  const name = isObject(item) ? item.value : undefined;
  return typeof name === 'string' && isValueName(name) ? `of ${name}` : `number ${index + 1}`;
}

/** The expectation, or what is wrong with it, in words. */
function readExpectation(given: unknown): Expectation | string {
  if (!isObject(given)) return `must be an object such as ${EXAMPLE.slice(1, -1)}`;
  const { value, min = null, max = null, of_usual = null, required = null } = given;
  if (typeof value !== 'string' || !isValueName(value)) return `has no value to expect: ${VALUE_NAME_RULE}`;
  if (!isNumberOrNull(min)) return 'has a min that is not a number';
  if (!isNumberOrNull(max)) return 'has a max that is not a number';
  if (min !== null && max !== null && min > max) {
    return `can never be met: its min ${exactNumber(min)} is above its max ${exactNumber(max)}`;
  }
  const ofUsual = readOfUsual(of_usual);
  if (typeof ofUsual === 'string') return ofUsual;
  if (required !== null && typeof required !== 'boolean') {
    return 'has a required that is neither true nor false';
  }
  const isRequired = required ?? true;
  if (min === null && max === null && ofUsual === null && !isRequired) {
    return 'expects nothing: give min, max, of_usual or "required": true';
  }
  return { value, min, max, of_usual: ofUsual, required: isRequired };
}

const FACTORS =
  'has an of_usual that is not two factors, the lower first, such as [0.5, 3]; null for no limit';

function readOfUsual(given: unknown): Expectation['of_usual'] | string {
  if (given === null) return null;
  if (!Array.isArray(given) || given.length !== 2) return FACTORS;
  const [low, high] = given as unknown[];
  if (!isFactorOrNull(low) || !isFactorOrNull(high)) return FACTORS;
  if (low !== null && high !== null && low > high) return FACTORS;
  return low === null && high === null ? null : [low, high];
}

function isFactorOrNull(given: unknown): given is number | null {
  return isNumberOrNull(given) && (given === null || given >= 0);
}

function isNumberOrNull(given: unknown): given is number | null {
  return given === null || (typeof given === 'number' && Number.isFinite(given));
}

function refuse(message: string, attribute = 'expect'): { validations: Validation[] } {
  return { validations: [{ attribute, message }] };
}
