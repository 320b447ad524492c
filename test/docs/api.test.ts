/** docs/api.md against the machine-readable description, which http/openapi.test.ts compares with the routes. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { STATUS_OF } from '../../src/http/endpoint/errors.ts';
import { openApiDocument } from '../../src/http/openapi/openapi.ts';
import { readPage } from './pages.ts';

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Description {
  paths: Record<string, Record<string, Operation> & { parameters?: { name: string; in: string }[] }>;
  components: { schemas: Record<string, Schema> };
}

const test = suite('the page of the API');

const description = openApiDocument('http://127.0.0.1:7676') as unknown as Description;

/** The requests as written in the headings. */
function operations(): Map<string, { operation: Operation; query: string[] }> {
  return new Map(
    Object.entries(description.paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
      Object.entries(methods as Record<string, Operation>).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        {
          operation,
          query: [...shared, ...(operation.parameters ?? [])]
            .filter((one) => one.in === 'query')
            .map(({ name }) => name),
        },
      ]),
    ),
  );
}

/** The text below each heading of a request. */
function sections(): Map<string, string> {
  const parts = readPage('docs/api.md').text.split(/^(?=#{2,3} )/m);
  return new Map(
    parts.flatMap((part) => {
      const [, request] = /^### ([A-Z]+ \/\S+)\n/.exec(part) ?? [];
      return request === undefined ? [] : [[request, part] as const];
    }),
  );
}

function bodyOf({ requestBody }: Operation): Schema {
  const schema = requestBody?.content['application/json']?.schema ?? {};
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '') ?? [];
  return name === undefined ? schema : (description.components.schemas[name] ?? {});
}

/** The names in the first column of the tables. */
function rowsOf(section: string): string[] {
  return [...section.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
}

test('every path and method has a section, and nothing else has', () => {
  assert.ok(operations().size > 40);
  assert.equal([...sections().keys()].sort(), [...operations().keys()].sort());
});

test('every parameter and every field is named, and nothing else has a row', () => {
  const described = sections();
  for (const [request, { operation, query }] of operations()) {
    const section = described.get(request) ?? '';
    const fields = Object.keys(bodyOf(operation).properties ?? {});
    // The second check-in address refers to the first one for everything they share.
    const names = request.startsWith('POST /c/') ? [] : [...query, ...fields];
    for (const name of names) assert.match(section, `\`${name}\``, `${request}: ${name}`);
    for (const row of rowsOf(section)) assert.ok([...query, ...fields].includes(row), `${request}: ${row}`);
  }
});

test('required fields are marked as required', () => {
  const described = sections();
  for (const [request, { operation }] of operations()) {
    const { properties = {}, required = [] } = bodyOf(operation);
    const marked = Object.keys(properties).filter((name) =>
      new RegExp(`^\\| \`${name}\` \\| Required\\.`, 'm').test(described.get(request) ?? ''),
    );
    // A snitch also needs an interval or a schedule, which a list of fields cannot express.
    assert.equal(marked.toSorted(), required.toSorted(), request);
  }
});

test('every type of error has a row with its status', () => {
  const rows = readPage('docs/api.md')
    .text.split('\n')
    .filter((line) => /^\| \d{3} \|/.test(line));
  for (const [type, status] of Object.entries(STATUS_OF)) {
    const row = rows.find((line) => line.includes(`\`${type}\``)) ?? '';
    assert.match(row, new RegExp(`^\\| ${status} \\|`), type);
  }
});

test('every section has an example of its own request', () => {
  for (const [request, section] of sections()) {
    const [method = '', path = ''] = request.split(' ');
    const [, example = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
    const calls = example.split('\n').filter((line) => line.includes('curl '));
    assert.ok(
      calls.some((line) => methodOf(line) === method && isAddress(line, path)),
      `${request}:\n${example}`,
    );
  }
});

function methodOf(line: string): string {
  const [, given] = / -X ([A-Z]+)/.exec(line) ?? [];
  return given ?? (/ (?:-d|--data-binary) /.test(line) ? 'POST' : 'GET');
}

/** Whether a line calls this path, with any values for the parts in braces. */
function isAddress(line: string, path: string): boolean {
  const pattern = path
    .replace(/^\/v1/, '\\$API')
    .replace(/^\/c/, 'http://127\\.0\\.0\\.1:7676/c')
    .replace(/\{\w+\}/g, '[^\\s/?"]+');
  return new RegExp(`[ "]${pattern}(?=[\\s?")]|$)`).test(line);
}

test('the example of a snitch has the fields of a snitch', () => {
  const example = readPage('docs/api.md').blocks.find(({ text }) => text.includes('"check_in_url"'));
  const fields = Object.keys(JSON.parse(example?.text ?? '{}') as object);
  assert.equal(fields.sort(), Object.keys(description.components.schemas.Snitch?.properties ?? {}).sort());
});

test.run();
