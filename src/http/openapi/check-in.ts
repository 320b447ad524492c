/** The check-in address in the description of the API (`decisions: Check-in`). */

const TEXT = { type: 'string' };

const CHECK_IN_PARAMETERS = [
  { name: 'm', in: 'query', description: 'A message, kept to 256 characters.', schema: TEXT },
  {
    name: 's',
    in: 'query',
    description: 'The exit status of the job. Empty or 0 is healthy, anything else is an error.',
    schema: TEXT,
  },
  {
    name: 'rid',
    in: 'query',
    description: 'Pairs the start of a run with its end. Check-ins with it are answered 200.',
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'values',
    in: 'query',
    description:
      'Numbers that the job reports, up to 20 of them: `v.bytes=1234`. A name is a lower-case letter, then up to 31 lower-case letters, digits or `_`.',
    style: 'form',
    explode: true,
    schema: {
      type: 'object',
      patternProperties: { '^v\\.[a-z][a-z0-9_]{0,31}$': { type: 'number', format: 'double' } },
      additionalProperties: false,
    },
  },
];

const SUFFIX = {
  name: 'suffix',
  in: 'path',
  required: true,
  description: '`start`, `fail`, `log` or an exit status from 0 to 255.',
  schema: { type: 'string', pattern: '^(start|fail|log|[0-9]{1,3})$' },
};

const TOKEN = {
  name: 'token',
  in: 'path',
  required: true,
  description: 'The token of a snitch.',
  schema: TEXT,
};

const OUTPUT = {
  description:
    'A form or a JSON object of nothing but `m`, `s`, `rid` and values (`v.bytes=1234`, `{"values": {"bytes": 1234}}`), or what the job printed.',
  content: { 'text/plain': { schema: TEXT } },
};

const plainText = (description: string) => ({ description, content: { 'text/plain': { schema: TEXT } } });

const CHECK_IN_RESPONSES = {
  404: plainText('There is no snitch with this token.'),
  503: plainText('The check-in was not stored: try again after `Retry-After` seconds.'),
};

function checkIn(id: string, summary: string, more: object): object {
  return { operationId: id, summary, tags: ['check-ins'], security: [], ...more };
}

const PLAIN_ANSWERS = {
  responses: {
    200: plainText('The check-in is on the disk, and had a `rid`.'),
    202: plainText('The check-in is on the disk.'),
    ...CHECK_IN_RESPONSES,
  },
};

const SUFFIX_ANSWERS = {
  responses: { 200: plainText('The check-in is on the disk.'), ...CHECK_IN_RESPONSES },
};

/** Check-in addresses may begin elsewhere, as set by `check_in_base`, but these always work too. */
export const CHECK_IN_PATHS = {
  '/c/{token}': {
    parameters: [TOKEN, ...CHECK_IN_PARAMETERS],
    get: checkIn('checkIn', 'Check in', PLAIN_ANSWERS),
    post: checkIn('checkInWithBody', 'Check in with a body', { requestBody: OUTPUT, ...PLAIN_ANSWERS }),
  },
  '/c/{token}/{suffix}': {
    parameters: [TOKEN, SUFFIX, ...CHECK_IN_PARAMETERS],
    get: checkIn('report', 'Report a start, an end or a line of a log', SUFFIX_ANSWERS),
    post: checkIn('reportWithBody', 'Report with what the job printed', {
      requestBody: OUTPUT,
      ...SUFFIX_ANSWERS,
    }),
  },
};
