/** The mail server in the configuration file: everything else in the file stays. */
import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parse } from 'yaml';
import {
  mailLines,
  mayWrite,
  type Place,
  placeFor,
  withMail,
  writeMail,
} from '../../../src/cli/setup/mail-file.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { temporaryDirectory } from '../snitch-process.ts';

const test = suite('the mail server in the configuration file');

const SETTINGS = {
  url: 'smtp://snitch@mail.example.com:587',
  from: 'Snitch <snitch@example.com>',
  password: 's3cr3t',
};
const PLACE: Place = {
  config: '/etc/snitch/config.yaml',
  password: '/etc/snitch/smtp-password',
  isCredential: false,
};
const LINES = [
  'smtp:',
  '  url: smtp://snitch@mail.example.com:587',
  '  password_file: /etc/snitch/smtp-password',
  '  from: Snitch <snitch@example.com>',
];

const root = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');

test('the lines hold no password, and under systemd not even where it is', () => {
  assert.equal(mailLines(SETTINGS, PLACE), LINES);
  assert.equal(mailLines(SETTINGS, { ...PLACE, isCredential: true }), LINES.toSpliced(2, 1));
});

test('a file without a mail server gets it at its end, one with comments as well', () => {
  assert.is(withMail('', SETTINGS, PLACE), `${LINES.join('\n')}\n`);
  const packaged = root('packaging/debian/config.yaml');
  assert.is(withMail(packaged, SETTINGS, PLACE), `${packaged}\n${LINES.join('\n')}\n`);
});

test('what a file has is replaced, and no other line of it changes', () => {
  const example = root('config.example.yaml');
  const changed = withMail(example, SETTINGS, PLACE).split('\n');
  const before = example.split('\n');
  assert.is(changed.length, before.length);
  const differing = changed.filter((line, index) => line !== before[index]);
  assert.equal(differing, LINES.slice(1));
  assert.match(changed.join('\n'), '# A file that holds the password alone');
  const again = withMail(changed.join('\n'), { ...SETTINGS, url: 'smtp://other:25', password: null }, PLACE);
  assert.equal(parse(again).smtp, { url: 'smtp://other:25', password_file: null, from: SETTINGS.from });
  const quoted =
    'smtp:\n    from: "a # b <a@b.example>"   # who\n    # where\n    url:\nlog: {level: warn}\n';
  assert.is(
    withMail(quoted, { ...SETTINGS, password: null }, PLACE),
    'smtp:\n    from: Snitch <snitch@example.com>   # who\n    # where\n    url: smtp://snitch@mail.example.com:587\nlog: {level: warn}\n',
  );
  for (const form of [
    '{url: "smtp://a", from: a@b.example}',
    '&x\n  from: >-\n    a@b.example\n  url: smtp://a',
    '\n  from: >-\n    a@b.example\n  url: smtp://a',
    '~',
  ]) {
    const { smtp, log } = parse(
      withMail(`smtp: ${form}\nlog: {level: warn}\n`, { ...SETTINGS, password: null }, PLACE),
    );
    assert.equal([smtp, log], [{ url: SETTINGS.url, from: SETTINGS.from }, { level: 'warn' }], form);
  }
  assert.equal(parse(withMail('smtp: # none yet\nlog: {level: warn}\n', SETTINGS, PLACE)).log, {
    level: 'warn',
  });
});

test('a file that cannot be read is left alone', () => {
  for (const text of ['smtp: [', '- a list\n', 'a: b: c']) {
    assert.throws(() => withMail(text, SETTINGS, PLACE), /is not valid: correct it first/);
  }
});

test('what is written is a configuration with a private password, also through a link', async () => {
  using directory = temporaryDirectory();
  const real = join(directory.path, 'real.yaml');
  const config = join(directory.path, 'config.yaml');
  writeFileSync(real, 'log:\n  level: warn # quiet\n');
  chmodSync(real, 0o640);
  symlinkSync(real, config);
  const place = placeFor(config, null);
  assert.ok(mayWrite(place));
  await writeMail(SETTINGS, place);
  assert.match(readFileSync(real, 'utf8'), '  level: warn # quiet\n\nsmtp:\n');
  assert.is(statSync(real).mode & 0o777, 0o640);
  assert.is(statSync(place.password).mode & 0o777, 0o600);
  const env = { HOME: directory.path };
  const loaded = await loadConfig({ file: config, env });
  assert.is(loaded.smtp?.url, 'smtp://snitch:s3cr3t@mail.example.com:587');
  const fresh = placeFor(join(directory.path, 'new/config.yaml'), null);
  assert.ok(mayWrite(fresh));
  await writeMail(SETTINGS, fresh);
  assert.is((await loadConfig({ file: fresh.config, env })).smtp?.from, SETTINGS.from);
  assert.not.ok(mayWrite(placeFor(join(directory.path, 'no/where/config.yaml'), null)));
});

test.run();
