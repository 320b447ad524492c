import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireChannel, WireWebhook } from '../../../src/api/wire.ts';
import { onTerminal } from '../on-terminal.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite('routes on the command line');
let on: Commands;

test.before(async () => {
  on = await withCase();
});
test.after(() => on.end());

const NTFY = ['channel', 'add', 'ntfy', 'https://ntfy.example.com/ops'];
const OFFICE = {
  timezone: 'Europe/Berlin',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '08:00',
  to: '18:00',
};

test('a channel is made with all of its route, and each part is changed and taken away', async () => {
  const made = await on.json<WireChannel>(
    ...NTFY,
    ...['--name', 'ops-pager', '--after', '30m', '--hours', 'mon-fri 08:00-18:00 Europe/Berlin'],
    ...['--tag', 'db', '--events', 'missing,errored'],
  );
  assert.equal(
    [made.after, made.hours, made.tags, made.events],
    [1_800, OFFICE, ['db'], ['missing', 'errored']],
  );
  const shown = await on.run('channel', 'edit', 'ops-pager', '--after', '2h');
  assert.match(shown.stdout, /After: +2 h, if nobody acknowledges/);
  assert.match(shown.stdout, /Hours: +mon-fri 08:00-18:00 Europe\/Berlin/);
  const plain = await on.json<WireChannel>(
    ...[
      'channel',
      'edit',
      'ops-pager',
      '--after',
      '0',
      '--hours',
      'always',
      '--all-tags',
      '--events',
      'default',
    ],
  );
  assert.equal([plain.after, plain.hours, plain.tags, plain.events.length], [0, null, [], 4]);
  await on.run('case', 'edit', '--timezone', 'Asia/Tokyo');
  const zoned = await on.json<WireChannel>('channel', 'edit', 'ops-pager', '--hours', 'sat,sun 22:00-06:00');
  assert.is(zoned.hours?.timezone, 'Asia/Tokyo', 'the one of the case');
});

test('members and webhooks have a route, and what else there is of them changes elsewhere', async () => {
  await on.run('member', 'add', 'night@example.com');
  const member = await on.json<WireChannel>('channel', 'edit', 'night@example.com', '--after', '90s');
  assert.equal([member.kind, member.after], ['email', 90]);
  await on.run('webhook', 'add', 'https://hooks.example.com/x');
  const hook = await on.json<WireChannel>(
    ...['channel', 'edit', 'https://hooks.example.com/x', '--events', 'missing,blind'],
  );
  assert.equal(hook.events, ['missing', 'blind']);
  assert.is((await on.json<WireWebhook[]>('webhook', 'list'))[0]?.notices, true);
  const refused = await on.run('channel', 'edit', 'night@example.com', '--name', 'night');
  assert.is(refused.code, 2);
  assert.match(refused.stderr, /only the route can be changed here.*snitch member add/);
  const removed = await on.run('channel', 'delete', 'night@example.com', '--force');
  assert.match(removed.stderr, /snitch member remove/);
});

test('the list shows routes, in 40 columns too', async () => {
  await on.run('channel', 'edit', 'ops-pager', '--after', '45m', '--hours', 'always');
  const wide = await on.run('channel', 'list');
  assert.match(wide.stdout, /WHEN[\s\S]*ops-pager +ntfy .*after 45m/);
  const { screen } = await onTerminal(['channel', 'list'], { columns: 40, env: on.env });
  const lines = stripVTControlCharacters(screen).split(/\r?\n/);
  assert.ok(
    lines.some((line) => /ops-pager.*after 45m/.test(line)),
    screen,
  );
  for (const line of lines) assert.ok(line.length <= 40, line);
});

test('what cannot be understood is refused with an example', async () => {
  const wrong: [string[], RegExp][] = [
    [['--after', '8d'], /not a length of time up to 7 days/],
    [['--after', 'soon'], /write 90s, 30m or 2h/],
    [['--hours', 'nine to five'], /write "mon-fri 08:00-18:00 Europe\/Berlin"/],
    [['--hours', '08:00-18:00 Berlin'], /needs a timezone/],
    [['--events', 'failed'], /--events are of missing/],
    [['--tag', 'db', '--all-tags'], /use either --tag or --all-tags/],
  ];
  for (const [flags, message] of wrong) {
    const { code, stderr } = await on.run('channel', 'edit', 'ops-pager', ...flags);
    assert.is(code, 2, stderr);
    assert.match(stderr, message);
  }
});

test.run();
