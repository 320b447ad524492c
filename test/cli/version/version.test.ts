/** `snitch version`, and that a pipe gets everything that a command prints. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { version, dependencies, scripts } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
  scripts: Record<string, string>;
};

function shell(script: string): string {
  const { stdout, status } = spawnSync('bash', ['-o', 'pipefail', '-c', script], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  assert.is(status, 0);
  return stdout;
}

const versions = suite('version');

versions('version, --version and -V print the version of the package', () => {
  for (const words of ['version', '--version', '-V'])
    assert.is(shell(`bin/snitch ${words}`), `snitch ${version}\n`);
});

versions('version --licenses names every library, and Node, with the text of its licence', () => {
  const text = shell('bin/snitch version --licenses');
  for (const name of Object.keys(dependencies))
    assert.match(text, new RegExp(`^${name} \\d[^\\n]* \\(`, 'm'));
  assert.match(text, `Node.js ${process.versions.node}`);
  assert.match(text, /Permission is hereby granted/);
  assert.match(text, 'OpenSSL');
});

versions('a reader that is slower than the command gets everything that it prints', () => {
  const whole = readFileSync(`${ROOT}/dist/licenses.txt`);
  assert.ok(whole.length > 200_000);
  assert.is(Number(shell('bin/snitch version --licenses | { sleep 0.5; wc -c; }')), whole.length);
});

versions('a reader that has seen enough is no error', () => {
  assert.match(shell('bin/snitch version --licenses | head -1'), '====');
});

versions('output that cannot be written is an error in words', () => {
  const { status, stderr } = spawnSync('sh', ['-c', 'bin/snitch version >/dev/full'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.is(status, 1);
  assert.match(stderr, /^snitch: the output cannot be written: ENOSPC[^\n]*\n$/);
});

versions('npm start runs the command, so its daemon trusts the authorities of the system too', () => {
  const [, started = ''] = /exec (.+) serve$/.exec(scripts.start ?? '') ?? [];
  assert.is(shell(`${started} version`), `snitch ${version}\n`);
  assert.match(readFileSync(`${ROOT}/${started}`, 'utf8'), /^exec .* --use-system-ca /m);
});

versions.run();
