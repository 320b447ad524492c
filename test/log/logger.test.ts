import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createLogger, type Logger, type LogSettings, redact } from '../../src/log/logger.ts';

const logger = suite('logger');

/** What the log writes during `use`. */
function written(format: LogSettings['format'], use: (log: Logger) => void): string {
  let text = '';
  use(createLogger({ level: 'info', format }, { write: (line) => (text += line) }));
  return text;
}

logger('writes one JSON object a line, with an ISO time and the level as a word', () => {
  const text = written('json', (log) => {
    log.info({ url: 'http://127.0.0.1:7676' }, 'listening');
    log.warn('second');
    log.debug('below the level');
  });
  const [first, second, ...rest] = text.split('\n');
  assert.equal(rest, ['']);
  const { time, ...fields } = JSON.parse(first!);
  assert.is(new Date(time).toISOString(), time);
  assert.equal(fields, { level: 'info', url: 'http://127.0.0.1:7676', msg: 'listening' });
  assert.is(JSON.parse(second!).level, 'warn');
});

const HOSTILE = 'a\u001b[31m\nb\r\u0085\u202ec\u2028d\u2029e\u009b\ufefff\u{e0041}\u007fg"\\n';

logger('escapes control and format characters in JSON, and keeps the value', () => {
  const text = written('json', (log) => log.child({ from: HOSTILE }).info({ [HOSTILE]: [HOSTILE] }, HOSTILE));
  assert.not.match(text.slice(0, -1), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  const fields = JSON.parse(text);
  assert.is(fields.msg, HOSTILE);
  assert.is(fields.from, HOSTILE);
  assert.equal(fields[HOSTILE], [HOSTILE]);
});

logger('escapes control and format characters in pretty lines', () => {
  const text = written('pretty', (log) => log.info({ from: HOSTILE }, HOSTILE));
  assert.not.match(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  assert.is(text.split('\n').length, 3, text);
  assert.match(text, '\\u001b[31m\\nb\\r');
});

logger('shows the stack of an error in lines, in pretty lines', () => {
  const cause = new Error('inner');
  const text = written('pretty', (log) => log.error({ err: new Error('outer\nfaked', { cause }) }, 'failed'));
  assert.match(text, /ERROR: failed\n/);
  assert.match(text, /\n +at .*logger\.test/);
  assert.match(text, /\n +caused by: Error: inner/);
  assert.match(text, 'outer\\nfaked');
});

for (const format of ['json', 'pretty'] as const) {
  logger(`hides secrets wherever they are (${format})`, () => {
    const secret = 'hunter2';
    const text = written(format, (log) => {
      log.info({
        password: secret,
        deep: { list: [{ apiKey: secret, 'Proxy-Authorization': `Basic ${secret}` }] },
      });
      log.info({
        headers: { authorization: [`x] "${secret}`, secret], 'set-cookie': secret, cookie: secret },
      });
      log.info({ auth: { user: 'me', pass: `}"${secret}` }, admin_key: secret, key: secret, secret });
      log.child({ smtp_password: secret }).info('child');
      log.info({ smtp: `smtp://me:${secret}@mail.example.com` }, `to https://${secret}@example.com/path`);
      log.info(`Authorization: Basic ${secret}c2VjcmV0`);
      log.info(`key snk_${secret}aaaaaaaaaaaaaaaaaaaaaaaa and whsec_${secret}aaaaaaaaaaaaa=`);
      log.info(`the server said {"password": "${secret}"}`);
      log.info(`{"a":"b","password":${JSON.stringify(`"\\\n\u001b${secret}\\"${secret}`)},"c":"d"}`);
      for (const before of ['\n', '\t', '\u001b', '"']) {
        log.info(
          `${before}snk_${secret}aaaaaaaaaa${before}whsec_${secret}aaaaaaaaaaaa${before}Basic ${secret}a`,
        );
      }
      log.info(`Bearer aBcDef${secret.slice(0, -1)}, basic dXNlcjpwYXNz`);
      log.info(
        `"smtp://me:a/${secret}@h is no URL, nor is https://me:${secret}… or https://me:${secret}/1@h`,
      );
      log.error({
        err: new Error(`cannot reach smtp://me:${secret}@h`, { cause: new Error(`//a http://${secret}@h`) }),
      });
    });
    assert.not.match(text, secret.slice(0, -1));
    assert.not.match(text, 'dXNl');
    assert.match(text, 'https://[redacted]@example.com/path');
    assert.match(text, 'the server said');
    if (format === 'json') for (const line of text.trimEnd().split('\n')) JSON.parse(line);
  });
}

logger('cuts a token short: it says which snitch is meant, and lets nobody check in', () => {
  const token = 'wq4m2lqsrpjuvfs77a2uivqwzd';
  const text = written('json', (log) => {
    log.info({ token, deep: [{ token: '0123456789' }] }, `http://h/c/${token}?s=1 and\n${token}/start`);
    log.error({ err: Object.assign(new Error(`\t${token}`), { token: 'a "quoted" one' }) });
  });
  assert.not.match(text, token.slice(0, 7));
  const [first, second] = text.split('\n').map((line) => line && JSON.parse(line));
  assert.is(first.token, 'wq4m2l…');
  assert.is(first.deep[0].token, '01…');
  assert.is(first.msg, 'http://h/c/wq4m2l…?s=1 and\nwq4m2l…/start');
  assert.is(second.err.message, '\twq4m2l…');
  assert.is(second.err.token, '…');
});

logger('leaves what only looks like a secret', () => {
  const plain = {
    alert: 'alert_rsknfocxrz64iby4',
    monkey: 'x',
    text: 'Basic access, Basic Authentication, basic authorization, mail me@example.com',
    url: 'http://h:80/a@b',
    urls: ['http://[::1]:7676/@', 'http://h:7676 a@b', 'unix:/run/snitch@home'],
  };
  const msg = 'see https://example.com/@me';
  const { time: _, ...fields } = JSON.parse(written('json', (log) => log.info(plain, msg)));
  assert.equal(fields, { level: 'info', ...plain, msg });
});

/** The lines that reach the journal. */
function journaled(format: LogSettings['format'], use: (log: Logger) => void): string[] {
  let text = '';
  const journal = { write: (line: string) => (text += line), isJournal: true };
  use(createLogger({ level: 'trace', format }, journal));
  assert.match(text, /\n$/);
  return text.slice(0, -1).split('\n');
}

const PRIORITIES = { trace: 7, debug: 7, info: 6, warn: 4, error: 3, fatal: 2 } as const;
const LEVELS = Object.keys(PRIORITIES) as (keyof typeof PRIORITIES)[];

logger('tells the journal the priority of each record, and writes one line for each', () => {
  const lines = journaled('json', (log) => {
    for (const level of LEVELS)
      log[level]({ level: 'fatal', err: new Error('<0>\n<0>forged') }, '<0>a\n<0>b');
  });
  assert.is(lines.length, LEVELS.length);
  for (const [index, level] of LEVELS.entries()) {
    const [, priority, json] = /^<(\d)>(.*)$/.exec(lines[index]!)!;
    assert.is(Number(priority), PRIORITIES[level]);
    assert.is(JSON.parse(json!).msg, '<0>a\n<0>b');
    assert.match(json!, `{"level":"${level}"`);
  }
});

logger('tells the journal the priority of every line of a stack', () => {
  const lines = journaled('pretty', (log) => {
    log.warn('first');
    log.error({ err: new Error('outer\n<0>forged') }, 'second');
  });
  const errors = lines.filter((line) => line.startsWith('<3>'));
  assert.match(lines[0]!, /^<4>\[.*WARN.*: first$/);
  assert.match(errors[0]!, /ERROR.*: second$/);
  assert.ok(errors.some((line) => /^<3> +at .*logger\.test/.test(line)));
  assert.is(errors.length, lines.length - 1, lines.join('\n'));
});

logger('follows a level that changes', () => {
  const text = written('json', (log) => {
    log.level = 'error';
    log.info('hidden');
    log.error('shown');
  });
  assert.match(text, 'shown');
  assert.not.match(text, 'hidden');
});

logger('hides a value whole, however deep it is and wherever it ends', () => {
  const hidden = (value: string) => redact(`{"a":1,"secret":${value},"b":[2]}`);
  for (const value of [
    '{"user":{"name":"hunter2"},"more":["hunter2",{"x":"}]"}]}',
    '["hunter2",["hunter2"],{"a":[]}]',
    '"hunter2\\\\"',
    '"hunter2\\\\\\""',
    '"hunter2\\"]}"',
    '-1.5e3',
    '""',
    '[]',
  ]) {
    assert.is(hidden(value), '{"a":1,"secret":"[redacted]","b":[2]}', value);
  }
  for (const word of ['null', 'true']) assert.is(hidden(word), `{"a":1,"secret":${word},"b":[2]}`);
  for (const open of ['["hunter2"', '{"a":"hunter2', '"hunter2', '"hunter2\\', '[[["hunter2"]]']) {
    assert.is(redact(`{"secret":${open}`), '{"secret":"[redacted]"', open);
  }
});

/** The processor time of `work`, in milliseconds: the least of several runs. */
function cost(work: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5; tries += 1) {
    const before = process.cpuUsage();
    for (let times = 0; times < 3; times += 1) work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least;
}

const NEVER_ENDING = [
  '"key":[',
  '"key":{',
  '"key":["',
  '"key":["a",',
  '"key":{"',
  '"key":"\\',
  '\\"key\\":\\"',
  'a://b:c',
  'a://',
  'basic ',
];

for (const piece of NEVER_ENDING) {
  logger(`looks through a line in proportion to its length: ${piece}`, () => {
    const long = (length: number) => piece.repeat(length / piece.length);
    const [short, eightfold] = [long(1_000), long(8_000)];
    const ratio = cost(() => void redact(eightfold)) / cost(() => void redact(short));
    assert.ok(ratio < 30, `eight times the length took ${ratio.toFixed(1)} times as long`);
  });
}

logger('cuts what is very long, and nothing secret with it', () => {
  const token = 'abcdefghijklmnopqrstuvwxyz'.replace('l', '2');
  const text = written('json', (log) => {
    for (let shift = 0; shift < 60; shift += 1) {
      const filler = `${'x'.repeat(99)} `.repeat(40).slice(shift);
      log.info(
        { err: new Error(`${filler} ${token} https://me:hunter2/${token}@h ${'y '.repeat(50_000)}`) },
        'a',
      );
    }
    log.warn({ list: Array.from({ length: 50_000 }, (_, index) => `hunter2 ${index}`) }, 'too many');
    log.info({ password: 'hunter2'.repeat(50_000) }, '🧨'.repeat(1_000_000));
    log.info('short');
  });
  const lines = text.trimEnd().split('\n');
  assert.is(lines.length, 63);
  for (const line of lines) assert.ok(line.length <= 65_536);
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.not.match(text, 'hunter2');
  assert.not.match(text, token.slice(0, 12));
  assert.match((parsed[0]!.err as { message: string }).message, /… \(\d{6} characters\)$/);
  const { time, ...rest } = parsed[60] ?? {};
  assert.type(time, 'string');
  assert.equal(
    { ...rest, left_out: Number(rest.left_out) > 500_000 },
    { level: 'warn', msg: 'too many', left_out: true },
  );
  assert.match(String(parsed[61]?.msg), /^🧨+… \(2000000 characters\)$/u);
  assert.is(parsed[62]?.msg, 'short');
});

logger.run();
