/** Files of many snitches: few requests, below the limit of the key, and against older servers too. */
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Commands, withDaemon } from '../with-daemon.ts';

const test = suite<{ commands: Commands; file: string }>('files of many snitches');

test.before.each(async (context) => {
  context.commands = await withDaemon({ SNITCH_RATE_LIMIT_PER_MINUTE: '600' });
  context.file = join(context.commands.daemon.dataDir, 'many.yaml');
});
test.after.each(({ commands }) => commands.end());

function fileOf(count: number, interval: string): string {
  const entries = Array.from(
    { length: count },
    (_, index) => `  - {name: job-${index}, interval: ${interval}}\n`,
  );
  return `owner: many\nsnitches:\n${entries.join('')}`;
}

test('thousands are made, changed and deleted without a wait for the limit', async ({ commands, file }) => {
  const { run } = commands;
  writeFileSync(file, fileOf(3_000, 'daily'));
  const made = await run('apply', '-f', file, '--yes', '-q');
  assert.equal([made.code, made.stderr], [0, '']);
  writeFileSync(file, fileOf(3_000, 'weekly'));
  const changed = await run('apply', '-f', file, '--yes', '-q');
  assert.equal([changed.code, changed.stderr], [0, '']);
  assert.is((await run('diff', '-f', file, '--exit-code', '-q')).code, 0);
  writeFileSync(file, 'owner: many\nsnitches: []\n');
  const pruned = await run('apply', '-f', file, '--yes', '-q', '--prune', '--confirm', '3000');
  assert.equal([pruned.code, pruned.stderr], [0, '']);
  assert.equal(await commands.listed(), []);
});

/** Forwards the requests that an older server knew, and refuses the others as it did. */
async function olderServer(url: string): Promise<{ server: Server; url: string; refused: string[] }> {
  const refused: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const call = `${request.method} ${request.url}`;
    const refuse = (status: number, answer: unknown) => {
      refused.push(call);
      response.writeHead(status).end(JSON.stringify(answer));
    };
    if (call === 'PATCH /v1/imports') return refuse(405, { type: 'method_not_allowed', error: 'no' });
    if (call === 'POST /v1/imports/delete') return refuse(404, { type: 'resource_not_found', error: 'no' });
    if (call.startsWith('POST /v1/imports') && JSON.parse(body.toString()).snitches.length > 100) {
      const validations = [{ attribute: 'snitches', message: 'has too many snitches (maximum is 100)' }];
      return refuse(422, { type: 'resource_invalid', error: 'no', validations });
    }
    const { host: _host, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, refused };
}

test('an older server gets only what it understands', async ({ file }) => {
  const commands = await withDaemon();
  const { run, daemon } = commands;
  const older = await olderServer(daemon.url);
  const keyFile = join(daemon.dataDir, 'the.key');
  writeFileSync(keyFile, daemon.apiKey);
  const to = ['--url', older.url, '--api-key-file', keyFile, '--yes'];
  try {
    writeFileSync(file, fileOf(130, 'daily'));
    const made = await run('apply', '-f', file, ...to);
    assert.is(made.code, 0, made.stderr);
    writeFileSync(file, fileOf(20, 'weekly'));
    const changed = await run('apply', '-f', file, ...to, '--prune', '--confirm', '110');
    assert.is(changed.code, 0, changed.stderr);
    const left = await commands.json<{ interval: string }[]>('list');
    assert.equal(
      left.map(({ interval }) => interval),
      Array.from({ length: 20 }, () => 'weekly'),
    );
    assert.equal([...new Set(older.refused)].sort(), [
      'PATCH /v1/imports',
      'POST /v1/imports',
      'POST /v1/imports/check',
      'POST /v1/imports/delete',
    ]);
  } finally {
    await new Promise((resolve) => older.server.close(resolve));
    await commands.end();
  }
});

test.run();
