import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfig } from '../../src/config/config.ts';
import { type Daemon, startDaemon } from '../../src/daemon/daemon.ts';
import { ending } from '../closing.ts';
import { newDataDir, removeDataDir } from '../data-directory.ts';

interface Context {
  directory: string;
  /** The address that the daemon is configured to listen on. */
  path: string;
}

const test = suite<Context>('listening on a unix socket');

test.before.each((context) => {
  context.directory = newDataDir();
  context.path = join(context.directory, 'snitch.sock');
});

test.after.each(({ directory }) => removeDataDir(directory));

async function start({ directory, path }: Context, data = 'data'): Promise<Daemon & AsyncDisposable> {
  const env = { SNITCH_LISTEN: `unix:${path}`, SNITCH_DATA_DIR: join(directory, data) };
  return ending(await startDaemon(await loadConfig({ env }), pino({ level: 'silent' })), (one) => one.stop());
}

async function refusal(context: Context): Promise<string> {
  try {
    await using _daemon = await start(context);
  } catch (error) {
    return (error as Error).message;
  }
  return 'started';
}

async function status(socketPath: string): Promise<number | undefined> {
  const asked = request({ socketPath, path: '/healthz' }).end();
  const [answer] = await once(asked, 'response');
  answer.resume();
  return answer.statusCode;
}

test('the daemon answers there, and leaves nothing behind', async (context) => {
  {
    await using _daemon = await start(context);
    assert.is(await status(context.path), 200);
  }
  assert.not(existsSync(context.path));
});

test('it replaces a socket whose process was killed', async (context) => {
  const script = `require('net').createServer().listen(process.argv[1], () => console.log('listening'))`;
  using killed = spawn(process.execPath, ['-e', script, context.path], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(killed.stdout, 'data');
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  assert.ok(statSync(context.path).isSocket());
  await using _daemon = await start(context);
  assert.is(await status(context.path), 200);
});

test('it does not replace a socket on which another daemon answers', async (context) => {
  await using _other = await start(context, 'other');
  assert.match(await refusal(context), 'EADDRINUSE');
  assert.is(await status(context.path), 200);
});

test('it does not replace a file, a directory or a link', async (context) => {
  const place = context.path;
  writeFileSync(place, 'precious');
  assert.match(await refusal(context), `${place}: it exists and is not a socket`);
  assert.is(readFileSync(place, 'utf8'), 'precious');
  context.path = join(context.directory, 'folder');
  mkdirSync(context.path);
  assert.match(await refusal(context), 'not a socket');
  context.path = join(context.directory, 'link');
  symlinkSync(place, context.path);
  assert.match(await refusal(context), 'not a socket');
  assert.is(readFileSync(context.path, 'utf8'), 'precious');
});

test.run();
