import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from './snitch-process.ts';
import { withDaemon } from './with-daemon.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const readme = suite('README');

/** The lines of the first shell block after this heading that calls `snitch`. */
function tour(): string[] {
  const [, commands = ''] = readFileSync(`${ROOT}/README.md`, 'utf8').split('\n## Commands\n');
  const [, block = ''] = /```sh\n(snitch [\s\S]+?)```/.exec(commands) ?? [];
  return block.trim().split('\n');
}

readme('the tour of the command line can be pasted line by line', async () => {
  const lines = tour();
  assert.ok(lines.length >= 10);
  const on = await withDaemon();
  const { path, remove } = temporaryDirectory();
  const env = { ...on.env, PATH: `${ROOT}/bin:${process.env.PATH}`, HOME: path };
  try {
    for (const line of lines) {
      await assertWorks(line, { env, cwd: path });
    }
    assert.is((await on.run('list')).stdout, '');
  } finally {
    await on.end();
    remove();
  }
});

async function assertWorks(line: string, options: { env: NodeJS.ProcessEnv; cwd: string }): Promise<void> {
  try {
    await promisify(execFile)('sh', ['-c', line], options);
  } catch (error) {
    const { stderr, stdout } = error as { stderr: string; stdout: string };
    assert.unreachable(`${line}\n${stdout}${stderr}`);
  }
}

readme.run();
