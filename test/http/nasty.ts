/** What generators of bad input put together: values, bodies, and parts of paths and queries. */
import fc from 'fast-check';
import { anyCharacter } from '../characters.ts';

const FIELDS = [
  'name',
  'interval',
  'alert_type',
  'alert_email',
  'notes',
  'tags',
  'type',
  'token',
  '__proto__',
];

/** Text of any characters. */
export const anyText = (lengths: fc.StringSharedConstraints = {}) =>
  fc.string({ unit: anyCharacter, ...lengths });

/** Names that every object has: a program that looks up a name of its own may find these instead. */
const INHERITED = ['constructor', 'hasOwnProperty', 'toString', 'valueOf', '__defineGetter__', 'length'];

/** Text that has broken programs: half surrogates, controls, directions, forms of nothing. */
export const NASTY_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udfff\ud800',
  '\u202e',
  '\ufeff',
  '\u2028',
  '%00',
  '../..',
  '__proto__',
  ...INHERITED,
];

export const NASTY_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1e308,
  -1,
  [],
  {},
  [[]],
  [null],
  { interval: 'daily' },
  { interval: [] },
];

const nastyText = fc.oneof(
  anyText(),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom(...NASTY_TEXTS),
  fc.constantFrom(
    'daily',
    'hourly',
    '5_minute',
    'smart',
    'a@example.com',
    'a@x>\r\nRCPT TO:<b@x',
    'x'.repeat(20_000),
  ),
);

export const nastyValue = fc.oneof(
  nastyText,
  fc.constantFrom(...NASTY_VALUES),
  fc.array(nastyText, { maxLength: 60 }),
  fc.jsonValue({ maxDepth: 4 }),
);

const nastyObject = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...FIELDS), nastyText), nastyValue), { maxLength: 8 })
  // Written out, because an object literal would lose `__proto__` and repeated keys.
  .map(
    (pairs) => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
  );

/** The members of a body that creates a snitch. */
export const VALID = '"name":"n","interval":"daily"';

/** Bodies that are often valid up to one thing. */
export const nastyBody = fc.oneof(
  nastyObject,
  nastyObject.map((text) => (text === '{}' ? `{${VALID}}` : `{${VALID},${text.slice(1)}`)),
  nastyValue.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '{',
    '[',
    '"',
    '{"a":1e400}',
    `{${VALID},"x":1e400}`,
    `{${VALID},"name":""}`,
    'nul',
    '\u0000',
  ),
);

/** Parts of paths and queries. */
export const PIECES: readonly string[] = [
  '%',
  '%zz',
  '%00',
  '%2F',
  '%2e%2e',
  '%c0%af',
  '%ED%A0%80',
  '%FF',
  '..',
  '.',
  '/',
  '//',
  ';',
  '?',
  '&',
  '=',
  '+',
  '~',
  '*',
  '|',
  'v1',
  'snitches',
  'c',
  'tags',
  'pause',
  '%F0%9F%9A%80',
  '__proto__',
  'constructor',
  '1e400',
  'a'.repeat(300),
];
