import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import { unless, without, withoutRoot } from '../../skipped.ts';
import { runSnitch, SNITCH, temporaryDirectory } from '../snitch-process.ts';

const config = suite('snitch config');
let directory: ReturnType<typeof temporaryDirectory>;
let file: string;

config.before.each(() => {
  directory = temporaryDirectory();
  file = join(directory.path, 'config.yaml');
});
config.after.each(() => directory.remove());

config('check says that a good file is valid', async () => {
  writeFileSync(file, 'listen: 127.0.0.1:1');
  const valid = { code: 0, stdout: `${file}: valid\n`, stderr: '' };
  assert.equal(await runSnitch(['config', 'check', '--config', file]), valid);
  assert.equal(await runSnitch(['config', 'check'], { SNITCH_CONFIG: file }), valid);
});

config('check lists all problems of a bad file on stderr', async () => {
  writeFileSync(file, 'listn: x\nrate_limit:\n  burst: no\n');
  const { code, stdout, stderr } = await runSnitch(['config', 'check', '--config', file]);
  assert.is(code, 1);
  assert.is(stdout, '');
  assert.is(
    stderr,
    `snitch: ${file}:1: listn: unknown setting; did you mean listen?\n` +
      `snitch: ${file}:3: rate_limit.burst: "no" is not allowed; it must be a whole number from 1 to 1000000\n`,
  );
});

config('show prints what is in force, without the password', async () => {
  writeFileSync(file, 'smtp: { url: "smtp://me:hunter2@mail", from: a@b }');
  const env = { SNITCH_RETENTION_DAYS: '7' };
  const asYaml = await runSnitch(['config', 'show', '--config', file], env);
  assert.is(asYaml.code, 0);
  assert.is(parse(asYaml.stdout).retention.days, 7);
  assert.is(parse(asYaml.stdout).smtp.url, 'smtp://me:***@mail');
  const asJson = await runSnitch(['config', 'show', '--config', file, '--json'], env);
  assert.equal(JSON.parse(asJson.stdout), parse(asYaml.stdout));
});

unless(withoutRoot(), config)('root is warned of what the user of the daemon cannot read', async () => {
  const [dataDir, password] = [join(directory.path, 'data'), join(directory.path, 'password')];
  chmodSync(directory.path, 0o755);
  mkdirSync(dataDir, { mode: 0o700 });
  writeFileSync(password, 'hunter2\n', { mode: 0o600 });
  writeFileSync(
    file,
    `data_dir: ${dataDir}\nsmtp: { url: "smtp://me@mail", password_file: ${password}, from: a@b }`,
  );
  const check = () => runSnitch(['config', 'check', '--config', file]);
  const valid = { code: 0, stdout: `${file}: valid\n`, stderr: '' };
  assert.equal(await check(), valid, 'a daemon of root');
  chownSync(dataDir, 12_345, 12_345);
  const { code, stderr } = await check();
  assert.is(code, 0);
  assert.match(stderr, `(user 12345) cannot read ${password}, so a daemon of that user will not start: `);
  assert.is(stderr.trimEnd().split('\n').length, 1, 'the configuration itself can be read');
  chownSync(password, 12_345, 12_345);
  assert.equal(await check(), valid);
});

unless(withoutRoot() ?? without('setpriv', '--version'), config)(
  'root is not warned of what that user can read by one of its further groups',
  async () => {
    const [dataDir, password] = [join(directory.path, 'data'), join(directory.path, 'password')];
    const groups = join(directory.path, 'groups');
    chmodSync(directory.path, 0o755);
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(password, 'hunter2\n', { mode: 0o640 });
    writeFileSync(
      file,
      `data_dir: ${dataDir}\nsmtp: { url: "smtp://me@mail", password_file: ${password}, from: a@b }`,
    );
    chownSync(dataDir, 1, 1);
    chownSync(password, 0, 12_345);
    const check = (members: string) => {
      writeFileSync(groups, `root:x:0:\ndaemon:x:1:\nsecrets:x:12345:${members}\n`);
      const inNamespace = 'mount --bind "$1" /etc/group && shift && exec "$@"';
      const command = [SNITCH, 'config', 'check', '--config', file];
      return spawnSync('unshare', ['--mount', 'sh', '-c', inNamespace, 'sh', groups, ...command], {
        encoding: 'utf8',
      });
    };
    assert.match(check('').stderr, `(user 1) cannot read ${password}`);
    assert.equal([check('daemon').stderr, check('daemon').status], ['', 0]);
  },
);

config('a wrong command line is a usage error that says what was meant', async () => {
  const mistyped = await runSnitch(['confg']);
  assert.is(mistyped.code, 2);
  assert.is(mistyped.stdout, '');
  assert.match(mistyped.stderr, 'Did you mean config?');
  assert.is((await runSnitch(['config', 'check', '--file', 'x'])).code, 2);
  assert.is((await runSnitch([])).code, 2);
});

config('help starts with examples', async () => {
  for (const args of [['--help'], ['help', 'config'], ['config', 'check', '--help'], ['serve', '--help']]) {
    const { code, stdout } = await runSnitch(args);
    assert.is(code, 0);
    assert.match(stdout, /^Examples:\n {2}snitch /);
  }
});

config('the version is that of the package', async () => {
  const { default: manifest } = await import('../../../package.json', { with: { type: 'json' } });
  const told = { code: 0, stdout: `snitch ${manifest.version}\n`, stderr: '' };
  assert.equal(await runSnitch(['version']), told);
  assert.equal(await runSnitch(['--version']), told);
});

config.run();
