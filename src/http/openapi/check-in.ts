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
    name: 'at',
    in: 'query',
    description:
      'When the job checked in, if that is reported late: at most 7 days ago. Any other time is ignored, and the check-in counts for the time of its arrival.',
    schema: { type: 'string', format: 'date-time' },
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
  description:
    'The token of a snitch. In its place a key of the scope `provision` may stand, and a name behind it: the same as `/c/-/{name}` with the key in the header.',
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

function checkInByName(id: string, summary: string, more: object): object {
  return { operationId: id, summary, tags: ['check-ins'], ...more };
}

const NAME = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'The name of a snitch. Of several with one name, the one that was made first.',
  schema: TEXT,
};

const inQuery = (name: string, description: string, schema: object = TEXT) => ({
  name,
  in: 'query',
  description,
  schema,
});

/** The fields of create, with each kind of schedule as a separate parameter. */
const NEW_SNITCH_PARAMETERS = [
  inQuery('create', 'With 1, a check-in for an unknown name makes the snitch.', {
    type: 'string',
    enum: ['1'],
  }),
  inQuery('interval', 'As in `POST /v1/snitches`, and so are the others.'),
  inQuery('cron', 'A schedule: a cron expression.'),
  inQuery('calendar', 'A schedule: an OnCalendar expression of systemd.'),
  inQuery('every', 'A schedule: so many seconds after the last check-in.', { type: 'integer' }),
  inQuery('timezone', 'That of the schedule.'),
  inQuery('grace', 'Seconds.', { type: 'integer' }),
  inQuery('tags', 'With commas between them.'),
  inQuery('alert_type', '`basic` or `smart`.'),
  inQuery('alert_email', 'With commas between them.'),
  inQuery('needs', 'Another snitch by name or token, or `tag:TAG`; repeated for several.'),
  inQuery('public_name', 'What the status page calls it.'),
  inQuery('notes', 'For those who are alerted.'),
  inQuery('max_runtime', 'Seconds.', { type: 'integer' }),
  inQuery('min_runtime', 'Seconds.', { type: 'integer' }),
  inQuery('failures_before_alert', 'From 1 to 10.', { type: 'integer' }),
  inQuery('expect', 'The array, as JSON.'),
];

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

const NAMED_ANSWERS = {
  responses: {
    200: plainText('The check-in is on the disk.'),
    201: plainText('The check-in is on the disk, and so is the snitch that it made.'),
    401: plainText('The key is missing or wrong.'),
    402: plainText('The case may have no more snitches, or is on hold.'),
    403: plainText('The key may not do this.'),
    404: plainText('There is no snitch with this name, and `create` is not 1.'),
    422: plainText('The snitch cannot be made: a line for each field that is wrong.'),
    429: plainText('Too many snitches are made at once, or too many keys were tried: see `Retry-After`.'),
    503: plainText('The check-in was not stored: try again after `Retry-After` seconds.'),
  },
};

/** Check-in addresses may begin elsewhere, as set by `check_in_base`, but these always work too. */
export const CHECK_IN_PATHS = {
  '/c/{token}': {
    parameters: [TOKEN, ...CHECK_IN_PARAMETERS],
    get: checkIn('checkIn', 'Check in', PLAIN_ANSWERS),
    post: checkIn('checkInWithBody', 'Check in with a body', { requestBody: OUTPUT, ...PLAIN_ANSWERS }),
  },
  '/c/-/{name}': {
    parameters: [NAME, ...CHECK_IN_PARAMETERS, ...NEW_SNITCH_PARAMETERS],
    get: checkInByName('checkInByName', 'Check in by name, and perhaps make the snitch', NAMED_ANSWERS),
    post: checkInByName('checkInByNameWithBody', 'Check in by name with a body', {
      requestBody: OUTPUT,
      ...NAMED_ANSWERS,
    }),
  },
  '/c/-/{name}/{suffix}': {
    parameters: [NAME, SUFFIX, ...CHECK_IN_PARAMETERS, ...NEW_SNITCH_PARAMETERS],
    get: checkInByName('reportByName', 'Report a start or an end by name', NAMED_ANSWERS),
    post: checkInByName('reportByNameWithBody', 'Report by name with what the job printed', {
      requestBody: OUTPUT,
      ...NAMED_ANSWERS,
    }),
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
