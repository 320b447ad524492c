// Time limit: 120 s.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireOwnership, WireSnitch } from '../../../src/api/wire.ts';
import { type Commands, withCase, withDaemon } from '../with-daemon.ts';

interface Context extends Commands {
  file: string;
  write(text: string): void;
  snitches(): Promise<WireSnitch[]>;
}

const test = suite<Context>('snitch apply and diff');

test.before.each(async (context) => {
  const commands = await withCase();
  const file = join(commands.daemon.dataDir, 'web.yaml');
  Object.assign(context, commands, {
    file,
    write: (text: string) => writeFileSync(file, text),
    snitches: () => commands.listed(),
  });
});
test.after.each((context) => context.end());

const TWO = `
case:
  timezone: Europe/Berlin
  members: [ann@example.com]
snitches:
  - name: nightly
    interval: every day
    tags: [db, db]
  - name: queue
    interval: 5m
    alert_email: a@example.com, b@example.com
    token: c2354d53d2
`;

const nameOf = ({ name }: { name: string }) => name;

test('an apply makes what the file says, and a second one changes nothing', async (context) => {
  const { run, file, write, snitches } = context;
  write(TWO);
  const diff = await run('diff', '-f', file);
  assert.equal(diff, {
    code: 0,
    stdout: [
      '~ change the case',
      '    timezone: "UTC" -> "Europe/Berlin"',
      '    members: [] -> ["ann@example.com"]',
      '+ create nightly (daily)',
      '+ create queue (5_minute, c2354d53d2)',
      '',
    ].join('\n'),
    stderr: 'the case to change, 2 to create, 0 unchanged\n',
  });
  assert.is((await run('diff', '-f', file, '--exit-code')).code, 1);
  assert.equal(await snitches(), []);

  const applied = await run('apply', '-f', file, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.match(applied.stderr, /^applied$/m);
  const [nightly, queue] = await snitches();
  assert.equal(nightly?.tags, ['db']);
  assert.is(queue?.token, 'c2354d53d2');
  assert.equal(queue?.alert_email, ['a@example.com', 'b@example.com']);
  assert.is((await context.json<{ timezone: string }>('case', 'show')).timezone, 'Europe/Berlin');

  assert.equal(await run('apply', '-f', file, '--yes'), { code: 0, stdout: '', stderr: '2 unchanged\n' });
  assert.is((await run('diff', '-f', file, '--exit-code')).code, 0);
  assert.equal(await snitches(), [nightly, queue]);
});

test('an entry states the whole snitch; a token renames it', async ({ run, file, write, snitches }) => {
  write(TWO);
  await run('apply', '-f', file, '--yes');
  write(
    'snitches:\n  - {name: nightly, interval: weekly}\n  - {name: mail, interval: 5m, token: c2354d53d2}\n',
  );
  const { stdout } = await run('apply', '-f', file, '--yes');
  assert.match(stdout, '    interval: "daily" -> "weekly"\n    tags: ["db"] -> []\n');
  assert.match(stdout, '    name: "queue" -> "mail"\n');
  const [mail, nightly] = await snitches();
  assert.equal([mail?.name, mail?.alert_email, nightly?.interval], ['mail', [], 'weekly']);
});

test('without a terminal it needs --yes, and changes nothing', async ({ run, file, write, snitches }) => {
  write(TWO);
  const { code, stdout, stderr } = await run('apply', '-f', file);
  assert.is(code, 2);
  assert.match(stdout, '+ create nightly');
  assert.match(stderr, 'needs --yes');
  assert.equal(await snitches(), []);
});

test('snitches of the file and others live side by side; --prune deletes the file’s own', async (context) => {
  const { run, file, write, snitches } = context;
  await context.make('by-hand');
  write(TWO);
  await run('apply', '-f', file, '--yes');
  write('owner: web\nsnitches:\n  - {name: nightly, interval: daily, tags: [db]}\n');
  const kept = await run('apply', '-f', file, '--yes');
  assert.match(kept.stdout, '! no longer in the file, and kept: queue (c2354d53d2, pending)');
  assert.is((await snitches()).length, 3);
  assert.is((await run('diff', '-f', file, '--exit-code')).code, 0, 'nothing that an apply would change');
  assert.is((await run('diff', '-f', file, '--exit-code', '--prune')).code, 1);

  const unconfirmed = await run('apply', '-f', file, '--yes', '--prune');
  assert.is(unconfirmed.code, 2);
  assert.match(unconfirmed.stderr, '--confirm=1');
  assert.is((await run('apply', '-f', file, '--yes', '--prune', '--confirm=2')).code, 1);
  assert.is((await run('apply', '-f', file, '--yes', '--prune', '--confirm=all')).code, 2);
  assert.is((await run('apply', '-f', file, '--yes', '--confirm=1')).code, 2);
  assert.is((await snitches()).length, 3);

  const pruned = await run('apply', '-f', file, '--yes', '--prune', '--confirm=1');
  assert.is(pruned.code, 0, pruned.stderr);
  assert.match(pruned.stdout, '- delete queue (c2354d53d2, pending)');
  assert.equal((await snitches()).map(nameOf), ['by-hand', 'nightly']);
  assert.equal(await run('apply', '-f', file, '--yes', '--prune', '--confirm=0'), {
    code: 0,
    stdout: '',
    stderr: '1 unchanged\n',
  });
});

test('two files keep their own, of the same names too', async ({ run, file, write, snitches, daemon }) => {
  write('owner: one\nsnitches: [{name: backup, interval: daily}]\n');
  await run('apply', '-f', file, '--yes');
  write('owner: two\nsnitches: [{name: backup, interval: hourly}]\n');
  await run('apply', '-f', file, '--yes');
  const both = await snitches();
  assert.equal(both.map(({ interval }) => interval).sort(), ['daily', 'hourly']);
  const daily = both.find(({ interval }) => interval === 'daily');
  write(`owner: two\nsnitches:\n  - name: mine\n    interval: hourly\n    token: ${daily?.token}\n`);
  const { code, stderr } = await run('apply', '-f', file, '--yes');
  assert.is(code, 1);
  assert.is(stderr, `snitch: ${file}:5: mine: token: is kept by another file, whose owner is "one"\n`);
  const owners = (await (await daemon.call('GET', '/v1/ownership')).json()) as WireOwnership[];
  assert.equal(owners.map(({ owner }) => owner).sort(), ['one', 'two']);
});

test('a snitch made by hand is adopted when the file names it', async (context) => {
  const { run, file, write } = context;
  const { token } = await context.make('nightly');
  write('snitches: [{name: nightly, interval: daily}]\n');
  const { stdout } = await run('apply', '-f', file, '--yes');
  assert.is(stdout, `~ adopt nightly (${token}): the file keeps it from now on\n`);
  assert.is((await run('diff', '-f', file, '--exit-code')).code, 0);
  await context.make('twice');
  await context.make('twice');
  write('snitches: [{name: twice, interval: daily}]\n');
  const ambiguous = await run('diff', '-f', file);
  assert.is(ambiguous.code, 1);
  assert.match(ambiguous.stderr, 'web.yaml:1: name: 2 snitches have this name');
});

test('all problems are reported at once with their lines, and nothing is applied', async (context) => {
  const { run, file, write, snitches } = context;
  write(`case:
  timezone: Mars/Olympus
snitches:
  - name: good
    interval: daily
  - name: bad
    interval: yearly
    alert_email: nobody
  - interval: daily
    notes: x
  - name: 5
    interval: 15m
    alert_type: smart
    token: "!"
`);
  const { code, stdout, stderr } = await run('apply', '-f', file, '--yes');
  assert.is(code, 1);
  assert.is(stdout, '');
  const lines = stderr.trimEnd().split('\n');
  assert.match(
    lines.pop()!,
    /^snitch: the intervals are: 1_minute, .*, monthly; a schedule says anything else$/,
  );
  assert.ok(stderr.includes(`:7: bad: interval: "yearly" is not a valid interval.\n`));
  const places = lines.map((line) => line.slice(`snitch: ${file}:`.length));
  assert.equal(
    places.map((place) => /^\d+: (?:bad: )?[\w.]+(?=: )/.exec(place)?.[0]),
    [
      '2: case.timezone',
      '7: bad: interval',
      '8: bad: alert_email',
      '9: name',
      '11: name',
      '13: alert_type',
      '14: token',
    ],
  );
  assert.equal(await snitches(), []);
});

test('of 200 problems the first are listed, and the others counted', async ({ run, file, write }) => {
  const jobs = Array.from({ length: 200 }, (_, index) => `  - {name: job-${index}, interval: dayly}\n`);
  write(`snitches:\n${jobs.join('')}`);
  const { code, stderr } = await run('apply', '-f', file, '--yes');
  assert.is(code, 1);
  const lines = stderr.trimEnd().split('\n');
  assert.is(lines.length, 22);
  assert.is(
    lines[19],
    `snitch: ${file}:21: job-19: interval: "dayly" is not a valid interval. Did you mean daily?`,
  );
  assert.is(lines[20], 'snitch: and 180 more problems');
});

test('the form of the file is checked as a whole, too', async ({ run, file, write }) => {
  write(`snitchs: []
snitches:
  - name: a
    interval: daily
    tag: [x]
  - just text
  - name: a
    interval: daily
  - {name: b, interval: daily, token: abcdef}
  - {name: c, interval: daily, token: abcdef}
`);
  const { code, stderr } = await run('diff', '-f', file);
  assert.is(code, 1);
  assert.equal(stderr.trimEnd().split('\n'), [
    `snitch: ${file}:1: the file: snitchs: there is no such field. Did you mean snitches?`,
    `snitch: ${file}:5: snitches[0]: tag: there is no such field. Did you mean tags?`,
    `snitch: ${file}:6: snitches[1]: must hold "name: value" lines`,
    `snitch: ${file}:7: name: is the same as in line 3: give each its token, or another name`,
    `snitch: ${file}:10: token: is the same as in line 9`,
  ]);
  write('snitches: [\n');
  assert.match((await run('diff', '-f', file)).stderr, /web\.yaml:\d: not valid YAML/);
  write('case: {}\n');
  assert.match((await run('diff', '-f', file)).stderr, 'web.yaml:1: snitches: is missing');
  assert.match((await run('diff', '-f', `${file}.no`)).stderr, 'does not exist');
  assert.is((await run('diff')).code, 2);
  const bare = await run('diff', file);
  assert.is(bare.code, 2);
  assert.match(bare.stderr, /\nThe file is given as `-f FILE`\. See `snitch help diff`\.\n$/);
});

test('what entries share is written once', async ({ run, file, write, snitches }) => {
  write(`x-defaults: &defaults {interval: daily, tags: [web]}
snitches:
  - {<<: *defaults, name: a}
  - {<<: *defaults, name: b, interval: hourly}
`);
  const { code, stderr } = await run('apply', '-f', file, '--yes');
  assert.is(code, 0, stderr);
  const [a, b] = await snitches();
  assert.equal([a?.interval, a?.tags, b?.interval, b?.tags], ['daily', ['web'], 'hourly', ['web']]);
});

test('more than one request of snitches is applied, and the limit of the case is told before', async (context) => {
  const { run, file, write, snitches, daemon } = context;
  const entries = Array.from({ length: 130 }, (_, index) => `  - {name: job-${index}, interval: daily}\n`);
  write(`snitches:\n${entries.join('')}`);
  const { id } = await context.json<{ id: string }>('case', 'show');
  await daemon.call('PATCH', `/v1/cases/${id}`, { max_snitches: 129 }, daemon.adminKey);
  const refused = await run('apply', '-f', file, '--yes');
  assert.is(refused.code, 1);
  assert.match(refused.stderr, 'has 130 new snitches, and the case has room for 129');
  assert.equal(await snitches(), []);
  await daemon.call('PATCH', `/v1/cases/${id}`, { max_snitches: 130 }, daemon.adminKey);
  assert.is((await run('apply', '-f', file, '--yes')).code, 0);
  assert.is((await snitches()).length, 130);
  write('snitches: [{name: other, interval: daily}]\n');
  const replaced = await run('apply', '-f', file, '--yes', '--prune', '--confirm=130');
  assert.is(replaced.code, 0, replaced.stderr);
  assert.equal((await snitches()).map(nameOf), ['other']);
});

test('names cannot forge lines of the diff', async ({ run, file, write }) => {
  write('snitches: [{name: "a\\u202eb\\u2028- delete all", interval: daily}]\n');
  const { code, stdout } = await run('diff', '-f', file);
  assert.is(code, 0);
  assert.is(stdout, '+ create a\\u202eb\\u2028- delete all (daily)\n');
});

test('it waits if the server asks to', async (context) => {
  // On a busy host a second is over before the command has begun.
  const limited = await withDaemon({ SNITCH_RATE_LIMIT_PER_MINUTE: '600', SNITCH_RATE_LIMIT_BLOCK_S: '4' });
  try {
    context.write(TWO);
    const blocked = () => limited.daemon.call('GET', '/v1/case').then(({ status }) => status === 429);
    while (!(await blocked()));
    const applied = await limited.run('apply', '-f', context.file, '--yes');
    assert.is(applied.code, 0, applied.stderr);
    assert.match(applied.stderr, /the server asks us to wait [1-4] s: waiting/);
    assert.is((await limited.run('diff', '-f', context.file, '--exit-code')).code, 0);
  } finally {
    await limited.end();
  }
});

test.run();
