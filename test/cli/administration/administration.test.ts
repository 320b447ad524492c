import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireCase, WireDelivery } from '../../../src/api/wire.ts';
import { startWebhookReceiver } from '../../end-to-end/webhook-receiver.ts';
import { only, readExposition, seriesOf } from '../../http/exposition.ts';
import { runSnitch } from '../snitch-process.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const administration = suite('administration commands');
let on: Commands;

administration.before(async () => {
  on = await withCase();
});
administration.after(() => on.end());

administration('case shows and edits the case of the key', async () => {
  assert.match((await on.run('case', 'show')).stdout, /^Name: +default\n/);
  const edited = await on.json<WireCase>(
    'case',
    'edit',
    '--timezone',
    'Europe/Berlin',
    '--reminders',
    'daily',
  );
  assert.equal([edited.timezone, edited.reminders], ['Europe/Berlin', 'daily']);
  const wrong = await on.run('case', 'edit', '--timezone', 'Mars/Olympus');
  assert.is(wrong.code, 1);
  assert.match(wrong.stderr, /^snitch: timezone: is not a time zone/);
  assert.is((await on.run('case', 'edit', '--on-hold', 'on')).code, 2);
});

administration('the administrator makes, limits and deletes cases, and keys for them', async () => {
  const made = await on.json<WireCase>('case', 'create', 'Team B', '--timezone', 'America/New_York');
  assert.match((await on.run('case', 'list')).stdout, new RegExp(`${made.id} +Team B +America/New_York`));
  assert.is((await on.json<WireCase>('case', 'edit', 'Team B', '--max-snitches', '1')).max_snitches, 1);
  const key = (await on.run('key', 'create', 'first', '--case', 'Team B', '-q')).stdout.trim();
  const theirs = { SNITCH_URL: on.daemon.url, SNITCH_API_KEY: key };
  assert.is((await runSnitch(['create', 'one', '-i', 'daily', '-q'], theirs)).code, 0);
  const full = await runSnitch(['create', 'two', '-i', 'daily', '-q'], theirs);
  assert.is(full.code, 1);
  assert.match(full.stderr, 'as many snitches as its plan allows');
  assert.is((await on.run('case', 'edit', 'Team B', '--on-hold', 'on', '-q')).code, 0);
  assert.match((await runSnitch(['list'], theirs)).stderr, 'on hold');
  assert.is((await on.run('case', 'delete', 'Team B')).code, 2);
  assert.is((await on.run('case', 'delete', 'Team B', '--force')).code, 0);
  assert.is((await on.run('case', 'show', 'Team B')).code, 3);
});

administration('a key of a case may not administer the server', async () => {
  const env = { SNITCH_URL: on.daemon.url, SNITCH_API_KEY: on.daemon.apiKey };
  const { code, stderr } = await runSnitch(['case', 'list'], env);
  assert.is(code, 4);
  assert.match(stderr, 'admin key');
});

administration('members are added and removed one by one', async () => {
  assert.is(
    (await on.run('member', 'add', 'a@example.com', 'b@example.com')).stdout,
    'a@example.com\nb@example.com\n',
  );
  assert.is((await on.run('member')).stdout, 'a@example.com\nb@example.com\n');
  assert.is((await on.run('member', 'remove', 'a@example.com')).stdout, 'b@example.com\n');
  const missing = await on.run('member', 'remove', 'c@example.com');
  assert.is(missing.code, 3);
  assert.match(missing.stderr, 'did you mean "b@example.com"?');
  assert.is((await on.run('member', 'add', 'no address')).code, 1);
  const nobody = await on.run('member', 'remove', 'b@example.com');
  assert.is(nobody.code, 0);
  const elsewhere = 'alerts reach only webhooks, channels and the addresses of --alert-email';
  assert.is(nobody.stderr, `the case has no members: ${elsewhere}\n`);
  assert.match((await on.run('case', 'show')).stdout, `nobody: ${elsewhere}`);
});

administration('a key is printed once, works, and is refused after its deletion', async () => {
  const made = await on.run('key', 'create', 'wallboard', '--scope', 'read', '-q');
  assert.match(made.stdout, /^snk_\w{40}\n$/);
  const env = { SNITCH_URL: on.daemon.url, SNITCH_API_KEY: made.stdout.trim() };
  assert.is((await runSnitch(['list'], env)).code, 0);
  assert.is((await runSnitch(['create', 'x', '-i', 'daily'], env)).code, 4);
  assert.not.match((await on.run('key', 'list')).stdout, 'snk_');
  assert.match((await on.run('key', 'list', '--admin')).stdout, /admin/);
  assert.is((await on.run('key', 'delete', 'wallboard', '-f')).code, 0);
  assert.is((await runSnitch(['list'], env)).code, 4);
});

administration('a new key names the variable that commands read a key of its kind from', async () => {
  for (const [option, variable] of [
    [[], 'SNITCH_API_KEY_FILE'],
    [['--admin'], 'SNITCH_ADMIN_KEY_FILE'],
  ] as const) {
    const { stderr } = await on.run('key', 'create', 'named', ...option);
    assert.match(stderr, `name that file in ${variable}\n`);
    assert.is((await on.run('key', 'delete', 'named', '-f', ...option)).code, 0);
  }
});

administration('a webhook prints its secret once, is tested, rotated and removed', async () => {
  const receiver = await startWebhookReceiver();
  try {
    const { stdout } = await on.run('webhook', 'add', receiver.url, '-q');
    assert.match(stdout, /^whsec_\S+\n$/);
    assert.not.match((await on.run('webhook')).stdout, 'whsec_');
    const tested = await on.run('webhook', 'test', receiver.url);
    assert.equal([tested.code, tested.stdout], [0, '']);
    assert.match(tested.stderr, 'delivered');
    const rotated = await on.run('webhook', 'rotate', receiver.url, '-q');
    assert.match(rotated.stdout, /^whsec_\S+\n$/);
    assert.is.not(rotated.stdout, stdout);
    assert.is((await on.run('webhook', 'remove', receiver.url, '--force')).code, 0);
    assert.is((await on.run('webhook', 'test', receiver.url)).code, 3);
  } finally {
    await receiver.stop();
  }
});

administration('deliveries that cannot be sent are listed, shown and retried', async () => {
  await on.run('webhook', 'add', 'http://user:hunter2@127.0.0.1:9/x', '-q');
  const failed = await on.run('webhook', 'test', 'http://127.0.0.1:9/x');
  assert.is(failed.code, 1);
  assert.match(failed.stderr, 'connection refused');
  const [delivery] = await on.json<WireDelivery[]>('deliveries', 'list', '--state', 'pending');
  const { stdout } = await on.run('deliveries');
  assert.match(stdout, new RegExp(`${delivery?.id} +pending +webhook +http://127\\.0\\.0\\.1:9/x`));
  assert.not.match(stdout, 'hunter2');
  assert.equal(
    await on.json<WireDelivery>('deliveries', 'show', delivery?.id ?? ''),
    delivery as WireDelivery,
  );
  const retried = await on.run('deliveries', 'retry', delivery?.id ?? '');
  assert.is(retried.code, 0);
  assert.match(retried.stderr, `${delivery?.id}: not delivered to http://127.0.0.1:9/x: connection refused`);
  assert.match(stdout, /http:\/\/127\.0\.0\.1:9\/x +Test alert: reporting/);
  assert.is((await on.run('deliveries', 'show', '999999')).code, 3);
  assert.is((await on.run('deliveries', 'show', 'x')).code, 3);
  assert.is((await on.run('deliveries', 'retry')).code, 2);
  assert.is((await on.run('deliveries', 'retry', '--dead')).code, 0);
});

administration('alerts tell what was decided, for all snitches or for one', async () => {
  await on.make('alerted');
  await on.make('other');
  await on.run('check-in', 'alerted');
  await on.run('check-in', 'other');
  await on.run('check-in', 'alerted', '-s', '1');
  const [errored, reporting, ...rest] = await on.json<WireAlert[]>('alerts', 'alerted');
  assert.equal([errored?.type, reporting?.type, rest.length], ['snitch.errored', 'snitch.reporting', 0]);
  const { stdout } = await on.run('alerts');
  assert.match(stdout, /^WHEN +ALERT +SNITCH +BEFORE +DELIVERIES +WHY\n\S+Z +errored +alerted +healthy +/);
  assert.match(stdout, /reporting +other +pending/);
});

administration('maintenance closes the API, and opens it again', async () => {
  assert.is((await on.run('maintenance')).stdout, 'off\n');
  assert.is((await on.run('maintenance', 'on')).stdout, 'on\n');
  const closed = await on.run('list');
  assert.is(closed.code, 5);
  assert.match(closed.stderr, /maintenance\. Try again in \d+ s\./);
  assert.is((await on.run('maintenance', 'off')).stdout, 'off\n');
  assert.is((await on.run('list')).code, 0);
  assert.is((await on.run('maintenance', 'perhaps')).code, 2);
});

administration('metrics prints what Prometheus reads, only of what has the tags', async () => {
  for (const [name, tag] of [
    ['dump "db"', 'metered'],
    ['mail', 'other'],
  ] as const) {
    assert.is((await on.run('create', name, '-i', 'daily', '--tag', tag, '-q')).code, 0);
  }
  const { code, stdout, stderr } = await on.run('metrics', '--tag', 'metered');
  assert.equal([code, stderr], [0, '']);
  const found = readExposition(stdout);
  assert.is(only(found, 'snitch_status', { name: 'dump "db"', tags: ',metered,', status: 'pending' }), 1);
  assert.equal(seriesOf(found, 'snitch_status', { name: 'mail' }), []);
  const both = await on.run('metrics', '-t', 'metered', '-t', 'other');
  assert.equal(seriesOf(readExposition(both.stdout), 'snitch_status'), []);
  assert.match(both.stderr, 'no snitch has the tag "metered" and "other"');
  const refused = await runSnitch(['metrics'], { SNITCH_URL: on.daemon.url, SNITCH_API_KEY: 'snk_x' });
  assert.equal([refused.code, refused.stdout], [4, '']);
});

administration.run();
