/**
 * The commands of each page, pasted in order into one shell with a fresh real daemon.
 * Time limit: 400 s.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryDirectory } from '../cli/snitch-process.ts';
import { compileCache } from '../compile-cache.ts';
import { startProcess } from '../end-to-end/daemon-process.ts';
import { unless, without } from '../skipped.ts';
import { pages, ROOT } from './pages.ts';

const test = suite('commands in the documents');

/** Where the daemon listens in the documents. */
const SHOWN = 'http://127.0.0.1:7676';

/** Longer than any command of a page takes, in seconds; one that waits for input is ended then. */
const LIMIT_S = 60;

/** Each line as it is in the page. The first that fails ends the shell and is named. */
function script(blocks: readonly string[], url: string): string {
  const lines = blocks.flatMap((block) => block.replaceAll(SHOWN, url).trimEnd().split('\n'));
  const quoted = (line: string) => `'${line.replaceAll("'", `'\\''`)}'`;
  const steps = lines.map((line) => `{ ${line}\n} || { echo FAILED: ${quoted(line)} >&2; exit 1; }`);
  return ['set -o pipefail', ...steps].join('\n');
}

/** Without this option curl takes an error of the server for a success. */
const CURL = `#!/bin/sh
PATH=\${PATH#*:}
case "$1" in
  -f*) exec curl "$@" ;;
  *) exec curl -sS --fail-with-body "$@" ;;
esac
`;

function failingCurl(directory: string): void {
  const path = join(directory, 'curl');
  writeFileSync(path, CURL);
  chmodSync(path, 0o755);
}

async function paste(blocks: readonly string[]): Promise<void> {
  await withDaemon(async (run) => {
    const { code, said } = await run(blocks);
    assert.is(code, 0, said);
  });
}

type Run = (blocks: readonly string[]) => Promise<{ code: number; said: string }>;

async function withDaemon(use: (run: Run) => Promise<void>): Promise<void> {
  const { path: home, remove } = temporaryDirectory();
  const tools = join(home, 'tools');
  const dataDir = join(home, '.local/state/snitch');
  mkdirSync(tools);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  failingCurl(tools);
  try {
    const daemon = await startProcess({ dataDir, env: { HOME: home } });
    const run: Run = async (blocks) => {
      const child = spawn('timeout', [String(LIMIT_S), 'bash', '-c', script(blocks, daemon.url)], {
        cwd: home,
        env: { ...compileCache(), HOME: home, TZ: 'UTC', PATH: `${tools}:${ROOT}/bin:${process.env.PATH}` },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'close');
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { code: Number(code), said: `${stdout.slice(-2_000)}\n${stderr}` };
    };
    try {
      await use(run);
    } finally {
      await daemon.end();
    }
  } finally {
    remove();
  }
}

const needed = without('curl') ?? without('jq') ?? without('bash');

for (const { path, blocks } of pages()) {
  const commands = blocks.filter(({ language }) => language === 'sh').map((block) => block.text);
  if (commands.length > 0) unless(needed, test)(`${path} can be pasted line by line`, () => paste(commands));
}

test('a failing command is noticed', async () => {
  await withDaemon(async (run) => {
    assert.is((await run(['true\n'])).code, 0);
    for (const line of ['snitch show nobody', `curl ${SHOWN}/v1/snitches`, 'false | cat']) {
      const { code, said } = await run([`${line}\n`]);
      assert.is(code, 1, line);
      assert.match(said, `FAILED: ${line.split(' ')[0]}`);
    }
  });
});

test.run();
