/** The check-in address in the description of the API (`decisions: Check-in`). */

const TEXT = { type: 'string' };

const CHECK_IN_PARAMETERS = [
  { name: 'm', in: 'query', description: 'A message, kept to 256 characters.', schema: TEXT },
  {
    name: 's',
    in: 'query',
    description: 'An exit status: anything but nothing and 0 is an error.',
    schema: TEXT,
  },
  {
    name: 'rid',
    in: 'query',
    description: 'Pairs the start of a run with its end; answered 200.',
    schema: { type: 'string', format: 'uuid' },
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
  description: 'A form or an object of `m`, `s` and `rid` alone, or what the job printed.',
  content: { 'text/plain': { schema: TEXT } },
};

const plainText = (description: string) => ({ description, content: { 'text/plain': { schema: TEXT } } });

const CHECK_IN_RESPONSES = {
  404: plainText('There is no snitch with this token.'),
  503: plainText('It is not stored: try again after `Retry-After` seconds.'),
};

function checkIn(id: string, summary: string, more: object): object {
  return { operationId: id, summary, tags: ['check-ins'], security: [], ...more };
}

const PLAIN_ANSWERS = {
  responses: {
    200: plainText('It is on the disk, and it had a `rid`.'),
    202: plainText('It is on the disk.'),
    ...CHECK_IN_RESPONSES,
  },
};

const SUFFIX_ANSWERS = { responses: { 200: plainText('It is on the disk.'), ...CHECK_IN_RESPONSES } };

/** Check-in addresses begin elsewhere where `check_in_base` says so; these answer always. */
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
