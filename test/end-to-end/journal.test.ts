/**
 * What the journal of systemd gets: a priority at the start of each line, and nowhere else.
 * Time limit: 120 s.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newDataDir, removeDataDir } from '../data-directory.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/snitch');

/** How long a line may take to come, in milliseconds: only a bound against waiting for ever. */
const PATIENCE = 30_000;

/** What systemd does: it names the stream that it has connected to an output of the service. */
const NAME_STREAM = (output: 1 | 2) =>
  `exec 9>&${output}; JOURNAL_STREAM=$(stat -L -c %d:%i /dev/fd/9); export JOURNAL_STREAM; exec 9>&-;`;

/** Shell before `exec` of the program: where its outputs go, and which stream the environment names. */
const ALL_TO_THE_JOURNAL = `${NAME_STREAM(1)} exec 2>&1;`;
const ERRORS_TO_THE_JOURNAL = NAME_STREAM(2);
const SENT_ELSEWHERE = 'JOURNAL_STREAM=1:1; export JOURNAL_STREAM;';

class Service {
  readonly stdout: string[] = [];
  readonly stderr: string[] = [];
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(outputs: string, env: Record<string, string>) {
    this.child = spawn('sh', ['-c', `${outputs} exec "$@"`, 'sh', PROGRAM, 'serve'], {
      env: { PATH: process.env.PATH, SNITCH_LISTEN: '127.0.0.1:0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = once(this.child, 'close');
    for (const output of ['stdout', 'stderr'] as const) {
      createInterface({ input: this.child[output]! }).on('line', (line) => this[output].push(line));
    }
  }

  /** The first line of its standard output that has `text` in it, once it is there. */
  async said(text: string): Promise<string> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const found = this.stdout.find((line) => line.includes(text));
      if (found !== undefined) return found;
      const isOver = this.child.exitCode !== null || Date.now() > end;
      assert.not(isOver, `it did not say "${text}":\n${[...this.stdout, ...this.stderr].join('\n')}`);
      await sleep(20);
    }
  }

  async ended(): Promise<number | null> {
    await this.#ended;
    return this.child.exitCode;
  }
}

interface Context {
  root: string;
  started: Service[];
}

const test = suite<Context>('the journal');

test.before.each((context) => {
  context.root = newDataDir();
  context.started = [];
});

test.after.each(async ({ root, started }) => {
  for (const service of started) {
    service.child.kill('SIGKILL');
    await service.ended();
  }
  removeDataDir(root);
});

function start({ root, started }: Context, outputs: string, env: Record<string, string> = {}): Service {
  const file = join(root, 'config.yaml');
  writeFileSync(file, 'log: { level: info }\n');
  const service = new Service(outputs, {
    SNITCH_DATA_DIR: join(root, `data-${started.length}`),
    SNITCH_CONFIG: file,
    ...env,
  });
  started.push(service);
  return service;
}

/** Makes it warn, log an error and recover from it, and stops it. @returns all that it wrote */
async function liveALittle({ root }: Context, service: Service): Promise<string[]> {
  await service.said('"msg":"listening"');
  writeFileSync(join(root, 'config.yaml'), 'log: { level: loud }\n');
  service.child.kill('SIGHUP');
  await service.said('the configuration was not read again');
  service.child.kill('SIGTERM');
  assert.is(await service.ended(), 0);
  assert.equal(service.stderr, []);
  return service.stdout;
}

const PRIORITIES: Record<string, string> = { info: '<6>', warn: '<4>', error: '<3>', fatal: '<2>' };

test('every line begins with the priority of its level, and is one record', async (context) => {
  const lines = await liveALittle(context, start(context, ALL_TO_THE_JOURNAL));
  const seen = new Set<string>();
  for (const line of lines) {
    const { level } = JSON.parse(line.slice('<N>'.length)) as { level: string };
    assert.is(line.slice(0, '<N>'.length), PRIORITIES[level], line);
    seen.add(level);
  }
  assert.equal([...seen].sort(), ['error', 'info', 'warn']);
});

test('an output that is not the journal has no priorities, whatever the environment says', async (context) => {
  const lines = await liveALittle(context, start(context, SENT_ELSEWHERE));
  const levels = lines.map((line) => (JSON.parse(line) as { level: string }).level);
  assert.equal([...new Set(levels)].sort(), ['error', 'info', 'warn']);
});

test('whether it is the journal is decided for each output by itself', async (context) => {
  const url = (await start(context, SENT_ELSEWHERE).said('"msg":"listening"')).match(/127\.0\.0\.1:\d+/)![0];
  const second = start(context, ERRORS_TO_THE_JOURNAL, { SNITCH_LISTEN: url });
  assert.is(await second.ended(), 1);
  assert.equal(second.stdout, []);
  assert.is(second.stderr.length, 1);
  assert.match(second.stderr[0]!, /^<3>snitch: .*EADDRINUSE/);
});

test('a start that fails is one record, whatever the format of the log', async (context) => {
  const url = (await start(context, SENT_ELSEWHERE).said('"msg":"listening"')).match(/127\.0\.0\.1:\d+/)![0];
  for (const format of ['json', 'pretty']) {
    const env = { SNITCH_LISTEN: url, SNITCH_LOG_FORMAT: format };
    const second = start(context, ALL_TO_THE_JOURNAL, env);
    assert.is(await second.ended(), 1);
    assert.is(second.stdout.length, 1, second.stdout.join('\n'));
    assert.match(second.stdout[0]!, /^<3>snitch: cannot listen on .*EADDRINUSE/);
  }
});

test('every line about a configuration that is refused has the priority of an error', async (context) => {
  const env = { SNITCH_LOG_LEVEL: 'loud', SNITCH_METRICS_PUBLIC: 'perhaps' };
  const service = start(context, ALL_TO_THE_JOURNAL, env);
  assert.is(await service.ended(), 1);
  assert.is(service.stdout.length, 2, service.stdout.join('\n'));
  for (const line of service.stdout) assert.match(line, /^<3>snitch: environment variable SNITCH_/);
});

test.run();
