import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Fixture, hooks } from './fixture.ts';

interface Description {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
}

const test = suite<Fixture>('the description of the API');

test.before.each(hooks.start);
test.after.each(hooks.close);

async function read({ nobody }: Fixture): Promise<Description> {
  const answer = await nobody.get('/openapi.json');
  assert.is(answer.status, 200);
  return answer.json<Description>();
}

test('it needs no key and is OpenAPI 3.1', async (context) => {
  assert.is((await read(context)).openapi, '3.1.0');
});

test('it names exactly the paths below /v1 that are served', async (context) => {
  const served = [...context.routes].map((path) => path.replace(/:(\w+)/g, '{$1}'));
  assert.equal(Object.keys((await read(context)).paths).toSorted(), served.toSorted());
});

test('it names exactly the methods that each path allows', async (context) => {
  const { paths } = await read(context);
  for (const [path, operations] of Object.entries(paths)) {
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

test('every operation says what its success carries', async (context) => {
  for (const operations of Object.values((await read(context)).paths)) {
    for (const { responses } of Object.values(operations)) {
      assert.ok('200' in responses || '204' in responses);
    }
  }
});

test.run();
