// Time limit: 120 s.

import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runSnitch, SnitchProcess, temporaryDirectory } from '../snitch-process.ts';

const serve = suite('snitch serve');
let directory: ReturnType<typeof temporaryDirectory>;
let started: SnitchProcess[];

serve.before.each(() => {
  directory = temporaryDirectory();
  started = [];
});
serve.after.each(async () => {
  for (const process of started) process.kill('SIGKILL');
  await Promise.all(started.map((process) => process.ended()));
  directory.remove();
});

function environment(): NodeJS.ProcessEnv {
  return { SNITCH_LISTEN: '127.0.0.1:0', SNITCH_DATA_DIR: join(directory.path, 'data') };
}

function start(args: readonly string[] = [], env = environment()): SnitchProcess {
  const process = new SnitchProcess(['serve', ...args], env);
  started.push(process);
  return process;
}

serve('says where it listens and where its keys are, answers, and stops with 0', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const daemon = start();
    const { url } = await daemon.logged('listening');
    assert.is((await fetch(`${url}/healthz`)).status, 200);
    daemon.kill(signal);
    const { code, stderr } = await daemon.ended();
    assert.is(code, 0, stderr);
    assert.ok(daemon.log().some(({ msg }) => msg === 'stopping'));
  }
  const { file } = await started[0]!.logged('first start: the API keys are in this file');
  assert.ok(existsSync(String(file)));
});

/** Prints what a process loads of Node's own modules while an option of the engine differs from that of its beginning. */
const LOADED_MEANWHILE = `
  import v8 from 'node:v8';
  const { setFlagsFromString } = v8;
  const own = () => process.moduleLoadList.filter((name) => /^NativeModule (?!internal)/.test(name));
  let before;
  v8.setFlagsFromString = (flags) => {
    setFlagsFromString(flags);
    if (before) console.error('MEANWHILE', own().filter((name) => !before.has(name)).join());
    else before = new Set(own());
  };`;

serve(
  "loads Node's own modules before it sets the option for which they would be compiled anew",
  async () => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(LOADED_MEANWHILE)}`;
    const daemon = start([], { ...environment(), NODE_OPTIONS });
    const { url } = await daemon.logged('listening');
    assert.is((await fetch(`${url}/healthz`)).status, 200);
    daemon.kill('SIGTERM');
    const { code, stderr } = await daemon.ended();
    assert.is(code, 0, stderr);
    assert.is(/^MEANWHILE (.*)$/m.exec(stderr)?.[1], '', stderr);
  },
);

serve('a second signal ends a daemon that is still answering, with 1', async () => {
  const daemon = start();
  const { hostname, port } = new URL(String((await daemon.logged('listening')).url));
  const slow = connect(Number(port), hostname);
  slow.on('error', () => undefined);
  slow.write('POST /c/unknown HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\nhalf');
  // It has begun to answer, and waits for the rest.
  await once(slow, 'data');
  daemon.kill('SIGTERM');
  // Two signals close together count as one, and a busy daemon may notice the first one late.
  await daemon.logged('stopping');
  await setTimeout(700);
  daemon.kill('SIGTERM');
  const { code } = await daemon.ended();
  assert.is(code, 1);
  assert.ok(daemon.log().some(({ msg }) => msg === 'ended by a second signal before it had stopped'));
});

serve('a second daemon on the same data directory ends with 75', async () => {
  await start().logged('listening');
  const { code, stderr } = await start().ended();
  assert.is(code, 75);
  assert.match(stderr, /^snitch: another snitch daemon is using /);
});

serve('a bad configuration is told on stderr, and nothing starts', async () => {
  const { code, stdout, stderr } = await runSnitch(['serve'], { ...environment(), SNITCH_LOG_LEVEL: 'loud' });
  assert.is(code, 1);
  assert.is(stdout, '');
  assert.match(stderr, 'snitch: environment variable SNITCH_LOG_LEVEL: log.level: "loud" is not allowed');
  assert.not(existsSync(join(directory.path, 'data')));
});

serve('an address that is taken is told on stderr', async () => {
  const { url } = await start().logged('listening');
  const { host } = new URL(String(url));
  const dataDir = join(directory.path, 'other');
  for (const format of ['json', 'pretty']) {
    const env = { SNITCH_LISTEN: host, SNITCH_DATA_DIR: dataDir, SNITCH_LOG_FORMAT: format };
    const { code, stdout, stderr } = await start([], env).ended();
    assert.is(code, 1);
    assert.is(
      stderr,
      `snitch: cannot listen on ${host}: another program listens there; if that is another snitch, stop it first, else set \`listen\` to another address (EADDRINUSE)\n`,
    );
    assert.not.match(stdout, /fatal|stack|cannot/i, 'it is said once');
  }
});

serve('a start that fails is told once, in a sentence, whatever keeps it from starting', async () => {
  const broken = join(directory.path, 'broken');
  mkdirSync(broken);
  writeFileSync(join(broken, 'snitch.db'), 'no database at all, but text that somebody put there');
  const open = join(directory.path, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  chmodSync(directory.path, 0o755);
  for (const [env, sentence] of [
    [
      { SNITCH_LISTEN: '192.0.2.1:1' },
      /^snitch: cannot listen on 192\.0\.2\.1:1: this host has no such address/,
    ],
    [
      { SNITCH_LISTEN: `unix:${directory.path}/no/socket` },
      /^snitch: cannot listen on .*: its directory does not/,
    ],
    [{ SNITCH_DATA_DIR: broken }, /^snitch: the database .* is damaged/],
    [{ SNITCH_DATA_DIR: '/dev/null/x' }, /^snitch: cannot create the data directory/],
    [{ SNITCH_DATA_DIR: open }, /^snitch: every user of this host can write into the data directory/],
    [{ SNITCH_DATA_DIR: '', HOME: '' }, /^snitch: environment variable HOME: it is empty/],
  ] as const) {
    const { code, stdout, stderr } = await start([], { ...environment(), ...env }).ended();
    assert.is(code, 1);
    assert.not.match(stdout, /fatal|stack/i);
    assert.match(stderr, sentence);
    assert.is(stderr.split('\n').length, 2, stderr);
  }
});

serve('SIGHUP reads the file again; a bad one changes nothing', async () => {
  const file = join(directory.path, 'config.yaml');
  writeFileSync(file, 'rate_limit: { per_minute: 100 }');
  const daemon = start(['--config', file]);
  const { url } = await daemon.logged('listening');
  writeFileSync(file, 'rate_limit: { per_minut: 5 }');
  daemon.kill('SIGHUP');
  const refused = await daemon.logged('the configuration was not read again; everything stays as it was');
  assert.is(refused.level, 'error');
  assert.equal(refused.problems, [
    `${file}:1: rate_limit.per_minut: unknown setting; did you mean rate_limit.per_minute?`,
  ]);
  assert.is((await fetch(`${url}/healthz`)).status, 200);
  writeFileSync(file, 'rate_limit: { per_minute: 5 }');
  daemon.kill('SIGHUP');
  await daemon.logged('the configuration was read again');
});

serve.run();
