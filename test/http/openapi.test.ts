import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ok } from './expect.ts';
import { checkIn, type Fixture, hooks, newSnitch } from './fixture.ts';

interface Operation {
  operationId: string;
  tags: string[];
  parameters?: { name: string; in: string; schema: { type: string } }[];
  responses: Record<string, unknown>;
}

interface Description {
  openapi: string;
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: object; required: string[] }> };
}

const test = suite<Fixture>('the description of the API');

test.before.each(hooks.start);
test.after.each(hooks.close);

async function read({ nobody }: Fixture): Promise<Description> {
  const answer = await nobody.get('/openapi.json');
  assert.is(answer.status, 200);
  return answer.json<Description>();
}

/** Check-in addresses are no part of the API. */
function belowV1({ paths }: Description): Description['paths'] {
  return Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith('/v1/')));
}

test('it needs no key and is OpenAPI 3.1', async (context) => {
  assert.is((await read(context)).openapi, '3.1.0');
});

test('it names exactly the paths below /v1 that are served', async (context) => {
  const served = [...context.routes].map((path) => path.replace(/:(\w+)/g, '{$1}'));
  assert.equal(Object.keys(belowV1(await read(context))).toSorted(), served.toSorted());
});

test('it names exactly the methods that each path allows', async (context) => {
  for (const [path, operations] of Object.entries(belowV1(await read(context)))) {
    const answer = await context.admin.ask('TRACE', path.replaceAll(/\{\w+\}/g, 'x'));
    assert.is(answer.status, 405, path);
    const allowed = String(answer.headers.allow)
      .split(', ')
      .filter((method) => method !== 'HEAD');
    assert.equal(
      Object.keys(operations).toSorted(),
      allowed.map((method) => method.toLowerCase()).toSorted(),
      path,
    );
  }
});

function operationsIn({ paths }: Description): [string, Operation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  );
}

test('every operation has a name and a tag of its own, and says what its success and its errors carry', async (context) => {
  const description = await read(context);
  const operations = operationsIn(description);
  assert.is(new Set(operations.map(([, { operationId }]) => operationId)).size, operations.length);
  const tags = description.tags.map(({ name }) => name);
  for (const [about, { responses, tags: own }] of operations) {
    assert.ok('200' in responses || '202' in responses || '204' in responses, about);
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith('4')),
      about,
    );
    assert.ok(own.length === 1 && tags.includes(own[0] ?? ''), about);
    for (const status of about.includes('/v1/') ? ['401', '402', '403', '429', '503'] : ['404', '503']) {
      assert.ok(status in responses, `${about} ${status}`);
    }
  }
});

test('a limit is an integer, and so is every other number that no job reports', async (context) => {
  const description = await read(context);
  const limits = operationsIn(description).flatMap(([, { parameters = [] }]) =>
    parameters.filter(({ name }) => name === 'limit'),
  );
  assert.is(limits.length, 5);
  for (const { schema } of limits) assert.is(schema.type, 'integer');
  const numbers: string[] = [];
  JSON.stringify(description, (name, value: { type?: unknown; format?: unknown } | null) => {
    if (value?.type === 'number' && value.format !== 'double') numbers.push(name);
    return value;
  });
  assert.equal(numbers, []);
});

test('the check-in address is in it, without a key', async (context) => {
  const { paths } = await read(context);
  assert.ok(paths['/c/{token}']?.get && paths['/c/{token}/{suffix}']?.post);
});

test('each check-in address takes the time of a late report', async (context) => {
  const addresses = Object.entries((await read(context)).paths).filter(([path]) => path.startsWith('/c/'));
  assert.is(addresses.length, 4);
  for (const [path, { parameters }] of addresses as [string, Pick<Operation, 'parameters'>][])
    assert.ok(
      parameters?.some(({ name, in: place }) => name === 'at' && place === 'query'),
      path,
    );
});

test('answers have the fields that are described, and no others', async (context) => {
  const { acme, admin } = context;
  const { write } = acme;
  const webhook = ok<{ id: string }>(await write.post('/v1/webhooks', { url: 'https://hooks.example.com/' }));
  const { href, token } = await newSnitch(acme);
  await checkIn(context, token);
  const firstOf = async (path: string) => ok<object[]>(await write.get(path))[0];
  const answers: Record<string, unknown> = {
    Snitch: await firstOf('/v1/snitches'),
    CheckIn: await firstOf(`${href}/check_ins`),
    Alert: await firstOf('/v1/alerts'),
    Delivery: await firstOf('/v1/deliveries'),
    Explanation: ok(await write.get(`${href}/explain`)),
    Case: ok(await write.get('/v1/case')),
    Webhook: ok(await write.get(`/v1/webhooks/${webhook.id}`)),
    CreatedWebhook: webhook,
    ApiKey: await firstOf('/v1/api_keys'),
    CreatedApiKey: ok(await write.post('/v1/api_keys', { name: 'one more' })),
    Maintenance: ok(await admin.get('/v1/maintenance')),
    Error: (await write.get('/v1/snitches/unknown')).json(),
  };
  const { schemas } = (await read(context)).components;
  for (const [name, answer] of Object.entries(answers)) {
    const { properties, required } = schemas[name] ?? { properties: {}, required: [] };
    const fields = Object.keys(answer as object);
    for (const field of fields) assert.ok(field in properties, `${name} ${field}`);
    for (const field of required) assert.ok(fields.includes(field), `${name} ${field}`);
  }
});

test.run();
