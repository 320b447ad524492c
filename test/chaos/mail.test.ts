/**
 * The mail that really arrives, parsed like in a mail reader, and what happens if the server refuses it.
 * Time limit: 180 s. Also on PostgreSQL with CHAOS=full.
 */
import type { SMTPServerOptions } from 'smtp-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireAlert, WireDelivery, WireSnitch } from '../../src/api/wire.ts';
import { type MailServer, type ReceivedMail, startMailServer } from '../delivery/mail-server.ts';
import { queryDirectory } from '../store/fixture.ts';
import { ON_POSTGRES, queryOnPostgres } from '../store/postgres/open.ts';
import { until } from '../until.ts';
import { LocalDaemon, MovableClock } from './local-daemon.ts';
import { Relay } from './relay.ts';

const query = ON_POSTGRES ? queryOnPostgres : queryDirectory;

const ANN = 'ann@example.com';
const BOB = 'bob@example.com';
/** A trusting mail client would read this as two recipients. */
const EVIL = 'x@example.com>\r\nRCPT TO:<evil@example.com';

/** Long enough for the first retry of a delivery, too short for a blind window. */
const FIRST_RETRY = 12_000;

interface Context {
  daemon: LocalDaemon;
  mail: MailServer;
  opened: (() => Promise<void>)[];
}

const test = suite<Context>('mail on its way');

test.before.each((context) => {
  context.opened = [];
});

test.after.each(async ({ opened }) => {
  for (const close of opened.reverse()) await close();
});

interface Setup {
  options?: SMTPServerOptions;
  /** A mail server that already runs. */
  server?: MailServer;
  /** The mail server that the daemon is configured with. */
  url?: (mail: MailServer) => string;
}

async function open(context: Context, { options = {}, server, url = (mail) => mail.url }: Setup) {
  context.mail = server ?? (await startMailServer(options));
  if (!server) context.opened.push(context.mail.close);
  context.daemon = new LocalDaemon(new MovableClock('2026-03-10T10:30:00Z'), { SMTP_URL: url(context.mail) });
  context.opened.push(() => context.daemon.dispose());
  await context.daemon.start();
}

async function createSnitch({ daemon }: Context, fields: Record<string, unknown>): Promise<string> {
  const wanted = { name: 'nightly-backup', interval: 'daily', ...fields };
  return (await daemon.call<WireSnitch>('POST', '/v1/snitches', wanted)).token;
}

async function reportError({ daemon }: Context, token: string): Promise<void> {
  assert.is(await daemon.checkIn(token, '?s=1&m=disk+full'), 202);
}

function mailsTo({ mail }: Context, recipient: string): ReceivedMail[] {
  return mail.received.filter(({ recipients }) => recipients.includes(recipient));
}

function received(context: Context, recipient: string, count: number): Promise<void> {
  return until(
    () => mailsTo(context, recipient).length >= count,
    `${count} mails reached ${recipient}`,
    30_000,
  );
}

async function deliveryTo({ daemon }: Context, recipient: string): Promise<WireDelivery | undefined> {
  const all = await daemon.call<WireDelivery[]>('GET', '/v1/deliveries?limit=1000');
  return all.find(({ target }) => target === recipient);
}

/** Waits until the delivery is in `state` after that many attempts. @returns the delivery */
async function settled(context: Context, recipient: string, state: string, attempts: number) {
  let found: WireDelivery | undefined;
  const look = async () => {
    found = await deliveryTo(context, recipient);
    return (
      found?.state === state && found.attempts === attempts && (state === 'delivered' || !!found.last_error)
    );
  };
  await until(look, `${recipient}: ${state} after ${attempts} attempts`, 20_000);
  return found as WireDelivery;
}

/** Every header that a message can have: any other was injected. */
const KNOWN_HEADERS = new Set(
  `from to subject date message-id references in-reply-to mime-version content-type content-transfer-encoding
   auto-submitted x-auto-response-suppress`.split(/\s+/),
);

function assertHarmless({ parsed, recipients, raw }: ReceivedMail, recipient: string): void {
  assert.equal(recipients, [recipient], 'the envelope has one recipient');
  for (const name of parsed.headers.keys()) assert.ok(KNOWN_HEADERS.has(name), `there is a header ${name}`);
  assert.not.match(raw, /[^\r\n\t\x20-\x7e]/);
  assert.not.match(raw.replaceAll('\r\n', ''), /[\r\n]/);
  assert.ok(raw.split('\r\n').every((line) => line.length <= 998));
  assert.not.match(parsed.subject ?? '', /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  assert.not.match((parsed.text ?? '').replaceAll('\n', ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u);
  assert.type(parsed.text, 'string');
  assert.type(parsed.html, 'string');
  assert.not.match(parsed.html || '', '<script');
  assert.is(parsed.headers.get('auto-submitted'), 'auto-generated');
}

/** Names that the API accepts, or that an old database may still have; PostgreSQL does not store U+0000. */
const NAMES = [
  'x\r\nBcc: evil@example.com\r\nRCPT TO:<evil@example.com>\r\n\r\n<script>alert(1)</script>',
  '🚀 nightly 👩‍🚀 Größe',
  'invoice \u202e\u200ftxt.exe\u2066',
  'n'.repeat(255),
];

test('alarm and recovery of snitches with hostile names thread for each recipient and carry nothing else', async (context) => {
  await open(context, {});
  const { daemon } = context;
  const tokens: string[] = [];
  for (const index of NAMES.keys()) tokens.push(await createSnitch(context, { name: `job ${index}` }));
  for (const token of tokens) await daemon.checkIn(token);
  await daemon.call('PATCH', '/v1/case', { members: [ANN, BOB] });
  await daemon.stop();
  for (const [index, name] of NAMES.entries()) {
    const hostile = [
      name,
      `${name}${ON_POSTGRES ? '' : '\u0000'}\u001b[31m`,
      JSON.stringify([name]),
      tokens[index] ?? '',
    ];
    await query(
      daemon.dataDir,
      'UPDATE snitches SET name = ?, notes = ?, tags = ? WHERE token = ?',
      ...hostile,
    );
  }
  const members = JSON.stringify([ANN, BOB, EVIL]);
  await query(daemon.dataDir, 'UPDATE cases SET name = ?, members = ?', NAMES[0] ?? '', members);
  await daemon.start();

  for (const token of tokens) await reportError(context, token);
  for (const member of [ANN, BOB]) await received(context, member, NAMES.length);
  for (const token of tokens) assert.is(await daemon.checkIn(token), 202);
  for (const member of [ANN, BOB]) await received(context, member, 2 * NAMES.length);

  const ids = new Set<string>();
  for (const member of [ANN, BOB]) {
    const mails = mailsTo(context, member);
    assert.is(mails.length, 2 * NAMES.length);
    for (const one of mails) assertHarmless(one, member);
    const alarms = mails.filter(({ parsed }) => parsed.subject?.startsWith('[Error]'));
    const recoveries = mails.filter(({ parsed }) => parsed.subject?.startsWith('[Recovered]'));
    assert.is(alarms.length, NAMES.length);
    assertThreaded(alarms, recoveries);
    for (const { parsed } of mails) ids.add(parsed.messageId ?? '');
  }
  assert.is(ids.size, 4 * NAMES.length, 'every message has an id of its own');
  const refused = await deliveryTo(context, EVIL);
  assert.is(refused?.state, 'dead');
  assert.is(refused?.last_error, 'the recipient is not an email address');
  assert.is(context.mail.received.length, ids.size, 'nobody else got any mail');
});

/** The line of the body that says which snitch the message is about. */
function about({ parsed }: ReceivedMail): string | undefined {
  return /^Snitch: +(.+)$/m.exec(parsed.text ?? '')?.[1];
}

/** Each recovery refers to the alarm of its own snitch that the same recipient got. */
function assertThreaded(alarms: readonly ReceivedMail[], recoveries: readonly ReceivedMail[]): void {
  const alarmIds = new Map(alarms.map((mail) => [about(mail), mail.parsed.messageId]));
  assert.is(alarmIds.size, NAMES.length);
  for (const recovery of recoveries) {
    const { inReplyTo, references } = recovery.parsed;
    assert.ok(alarmIds.has(about(recovery)));
    assert.is(inReplyTo, alarmIds.get(about(recovery)));
    assert.equal([references].flat(), [inReplyTo]);
  }
  assert.is(new Set(recoveries.map(about)).size, NAMES.length);
}

test('five waiting alerts come one by one, six as one digest', async (context) => {
  await open(context, {});
  const raise = async (recipient: string, count: number) => {
    for (let index = 0; index < count; index += 1) {
      const fields = { name: `job ${index}`, tags: [`rack ${index}`], alert_email: [recipient] };
      await reportError(context, await createSnitch(context, fields));
    }
  };
  await Promise.all([raise(ANN, 1), raise(BOB, 1)]);
  await received(context, ANN, 1);
  await received(context, BOB, 1);
  await Promise.all([raise(ANN, 5), raise(BOB, 6)]);
  await received(context, ANN, 6);
  await received(context, BOB, 2);
  const pending = () => context.daemon.call<WireDelivery[]>('GET', '/v1/deliveries?state=pending');
  await until(async () => (await pending()).length === 0, 'nothing waits', 30_000);
  assert.is(mailsTo(context, ANN).length, 6);
  assert.is(mailsTo(context, BOB).length, 2);
  const digest = mailsTo(context, BOB)[1]?.parsed;
  assert.match(digest?.subject ?? '', /^\[Digest\] 6 alerts of default: 6 with errors$/);
  const listed = (digest?.text ?? '').match(/ {2}- job \d \[rack \d\]/g);
  assert.equal(
    listed,
    [0, 1, 2, 3, 4, 5].map((index) => `  - job ${index} [rack ${index}]`),
  );
});

function refusing(responseCode: number): Error {
  return Object.assign(new Error('as the test says'), { responseCode });
}

test('5xx is dead at once, 4xx is tried again, and neither delays the others', async (context) => {
  let busy = true;
  await open(context, {
    options: {
      onRcptTo: ({ address }, _session, callback) => {
        if (address === 'gone@example.com') callback(refusing(550));
        else callback(address === 'busy@example.com' && busy ? refusing(451) : null);
      },
    },
  });
  const recipients = ['gone@example.com', 'busy@example.com', ANN];
  await reportError(context, await createSnitch(context, { alert_email: recipients }));
  await received(context, ANN, 1);
  const dead = await settled(context, 'gone@example.com', 'dead', 1);
  assert.match(dead.last_error ?? '', /refused the recipient: 550 as the test says/);
  const waiting = await settled(context, 'busy@example.com', 'pending', 1);
  assert.match(waiting.last_error ?? '', /refused the recipient: 451 as the test says/);
  assert.ok(Date.parse(waiting.next_attempt_at ?? '') > context.daemon.clock.now());
  busy = false;
  await context.daemon.clock.move(FIRST_RETRY);
  await settled(context, 'busy@example.com', 'delivered', 2);
  assert.is(mailsTo(context, ANN).length, 1);
  assert.is(mailsTo(context, 'busy@example.com').length, 1);
});

test('a restart of the mail server loses nothing and repeats nothing', async (context) => {
  const server = await startMailServer();
  const relay = new Relay(server.port);
  context.opened.push(server.close, () => relay.down());
  await relay.up();
  await open(context, { server, url: () => `smtp://127.0.0.1:${relay.port}` });
  const before = await createSnitch(context, { name: 'before', alert_email: ['before@example.com'] });
  await reportError(context, before);
  await received(context, 'before@example.com', 1);
  await relay.down();
  const during = await createSnitch(context, { name: 'during', alert_email: ['during@example.com'] });
  await reportError(context, during);
  const failed = await settled(context, 'during@example.com', 'pending', 1);
  assert.match(failed.last_error ?? '', /^connection refused by 127\.0\.0\.1:\d+$/);
  await relay.up();
  await context.daemon.clock.move(FIRST_RETRY);
  await settled(context, 'during@example.com', 'delivered', 2);
  const after = await createSnitch(context, { name: 'after', alert_email: ['after@example.com'] });
  await reportError(context, after);
  await settled(context, 'after@example.com', 'delivered', 1);
  assert.is(server.received.length, 3);
  const alerts = await context.daemon.call<WireAlert[]>('GET', '/v1/alerts');
  const states = alerts.flatMap(({ deliveries }) => deliveries.map(({ state }) => state));
  assert.equal(states, Array(3).fill('delivered'));
});

for (const [what, hidden, told] of [
  ['does not offer it', true, /does not offer the TLS that smtp\.url requires/],
  ['has a certificate that nobody vouches for', false, /TLS with .* failed|certificate/],
] as const) {
  test(`where TLS is required and the server ${what}, nothing leaves in the clear`, async (context) => {
    const said: string[] = [];
    await open(context, {
      options: {
        hideSTARTTLS: hidden,
        disabledCommands: hidden ? ['STARTTLS'] : [],
        allowInsecureAuth: true,
        onAuth: (_auth, _session, callback) => {
          said.push('AUTH');
          callback(null, { user: 'ops' });
        },
        onMailFrom: (_address, _session, callback) => {
          said.push('MAIL FROM');
          callback();
        },
      },
      url: ({ url }) => `${url.replace('//', '//ops:secret-password@')}?requireTLS=true`,
    });
    await reportError(context, await createSnitch(context, { alert_email: [ANN] }));
    const first = await settled(context, ANN, 'pending', 1);
    assert.match(first.last_error ?? '', told);
    await context.daemon.clock.move(FIRST_RETRY);
    await settled(context, ANN, 'pending', 2);
    assert.equal(said, [], 'neither login nor message');
    assert.is(context.mail.received.length, 0);
    assert.not.match(JSON.stringify([first, context.daemon.log]), 'secret-password');
  });
}

test.run();
