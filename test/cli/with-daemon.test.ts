/** The shared daemon of the tests of commands: a test notices if it dies. */
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Commands, withCase, withDaemon } from './with-daemon.ts';

const test = suite('daemons for the tests of commands');

async function crash({ daemon: { child } }: Commands): Promise<void> {
  // A shared daemon does not keep this process alive; here it must until it has ended.
  child.ref();
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

for (const [kind, start] of [
  ['its own', withDaemon],
  ['a shared', withCase],
] as const) {
  test(`a test during which ${kind} daemon dies fails, and the next one gets another`, async () => {
    const on = await start();
    await crash(on);
    const problem = await on.end().then(
      () => 'it ended well',
      (error: Error) => error.message,
    );
    assert.match(problem, /^the daemon ended with SIGKILL during this test:\n.*"msg":"listening"/s);
    const next = await start();
    try {
      assert.equal(await next.json('list'), []);
    } finally {
      await next.end();
    }
  });

  test(`a test may end ${kind} daemon itself`, async () => {
    const on = await start();
    assert.is(await on.daemon.end(), 0);
    await on.end();
    const next = await start();
    await next.daemon.end('SIGKILL');
    await next.end();
  });
}

test.run();
