import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EMAIL_LIMITS, emailChannel } from '../../src/delivery/channels/email.ts';
import { alertMessage } from '../../src/delivery/messages/email-message.ts';
import type { Outcome } from '../../src/delivery/outbox/outcome.ts';
import { createMailer, type Mailer } from '../../src/delivery/smtp/mailer.ts';
import { smtpOptions } from '../../src/delivery/smtp/smtp-options.ts';
import { until } from '../until.ts';
import { AT, anAlert } from './alerts.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

const CASE = { id: 'case_1', name: 'Operations', timezone: 'Europe/Berlin' };
const ANN = 'ann@example.com';
const FROM = 'Snitch <snitch@example.org>';

const test = suite<{ opened: (() => unknown)[] }>('email');

test.before.each((context) => {
  context.opened = [];
});

test.after.each(async ({ opened }) => {
  for (const close of opened.reverse()) await close();
});

type Opened = { opened: (() => unknown)[] };

async function server(context: Opened, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mail = await startMailServer(options);
  context.opened.push(mail.close);
  return mail;
}

function mailer(context: Opened, url: string, timeout = 2_000): Mailer {
  const made = createMailer({ url, from: FROM, connections: 3, timeout });
  context.opened.push(made.close);
  return made;
}

function send(to: Mailer, recipient = ANN, alert = anAlert()): Promise<Outcome> {
  return to.send(alertMessage(alert, CASE, recipient, to.domain), recipient);
}

function refusing(code: number): Error {
  return Object.assign(new Error('as the test says'), { responseCode: code });
}

/** A server on which the test itself speaks SMTP, from the connection on. */
async function scripted(context: Opened, onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const raw = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(raw, 'listening');
  context.opened.push(() => {
    for (const socket of sockets) socket.destroy();
    raw.close();
  });
  return `smtp://127.0.0.1:${(raw.address() as AddressInfo).port}`;
}

test('a message arrives with both parts and the headers of a machine', async (context) => {
  const mail = await server(context);
  const to = mailer(context, mail.url);
  assert.equal(await send(to), { kind: 'delivered' });
  const [received] = mail.received;
  assert.is(received?.from, 'snitch@example.org');
  assert.equal(received?.recipients, [ANN]);
  const { headers, subject, text, html, from, messageId, date } = received!.parsed;
  assert.is(subject, '[Missing] nightly-backup did not check in since 2026-11-20 03:04 (Europe/Berlin)');
  assert.is(from?.text, '"Snitch" <snitch@example.org>');
  assert.match(text ?? '', 'nightly-backup did not check in since');
  assert.match(html || '', '<strong>nightly-backup did not check in since');
  assert.is(headers.get('auto-submitted'), 'auto-generated');
  assert.is(headers.get('x-auto-response-suppress'), 'All');
  assert.is(date?.getTime(), Math.floor(AT / 1000) * 1000);
  assert.match(messageId ?? '', /^<snitch\.[0-9a-f]{40}@example\.org>$/);
});

test('a recovery threads under its alarm in a mail reader', async (context) => {
  const mail = await server(context);
  const to = mailer(context, mail.url);
  await send(to, ANN, anAlert({ id: 'alert_1' }));
  await send(to, ANN, anAlert({ id: 'alert_2', type: 'snitch.reporting', details: { threadId: 'alert_1' } }));
  const [alarm, recovery] = mail.received.map(({ parsed }) => parsed);
  assert.is(recovery?.inReplyTo, alarm?.messageId);
  assert.equal([recovery?.references].flat(), [alarm?.messageId]);
  assert.is.not(recovery?.messageId, alarm?.messageId);
});

test('names from outside cannot add a header, a recipient or a control character', async (context) => {
  const mail = await server(context);
  const to = mailer(context, mail.url);
  const names = [
    'x\r\nBcc: evil@example.com\r\n\r\nbody',
    '🚀 emoji 👩‍🚀',
    'abc\u202egnp.exe',
    'n'.repeat(255),
    'ü =?utf-8?q?=1B?=',
  ];
  for (const name of names) assert.is((await send(to, ANN, anAlert({ snitch: { name } }))).kind, 'delivered');
  assert.is(mail.received.length, names.length);
  for (const { parsed, recipients, raw } of mail.received) {
    assert.equal(recipients, [ANN]);
    assert.not.ok(parsed.headers.has('bcc'));
    assert.not.match(parsed.subject ?? '', /[\p{Cc}\p{Cf}\u2028\u2029]/u);
    assert.not.match(raw, /[^\r\n\t\x20-\x7e]/);
    assert.ok(raw.split('\r\n').every((line) => line.length <= 998));
    assert.type(parsed.text, 'string');
    assert.type(parsed.html, 'string');
  }
  assert.match(mail.received[3]?.parsed.subject ?? '', 'n'.repeat(255));
  assert.match(mail.received[4]?.parsed.subject ?? '', '= ?utf-8?q?=1B?=');
});

test('an address that could carry a second recipient is dead before anything is sent', async (context) => {
  const mail = await server(context);
  const to = mailer(context, mail.url);
  for (const address of [
    'a@x>\r\nRCPT TO:<evil@x',
    'a@x, b@x',
    'a b@x',
    '"a"@x',
    'nobody',
    '<a@x>',
    'a@x\n',
  ]) {
    assert.equal(await to.send(alertMessage(anAlert(), CASE, ANN, to.domain), address), {
      kind: 'dead',
      error: 'the recipient is not an email address',
    });
  }
  assert.is(mail.connections, 0);
});

test('one connection carries many messages, and a closed one is replaced', async (context) => {
  const mail = await server(context);
  const to = mailer(context, mail.url);
  for (let index = 0; index < 5; index += 1) assert.is((await send(to)).kind, 'delivered');
  assert.is(mail.connections, 1);
  const first = mail.port;
  await mail.close();
  const again = await startMailServer();
  context.opened.push(again.close);
  assert.is((await send(mailer(context, again.url))).kind, 'delivered');
  assert.match(((await send(to)) as { error: string }).error, `connection refused by 127.0.0.1:${first}`);
});

test('a retired mailer finishes its sends, and then ends its connections', async (context) => {
  let open = 0;
  let answer: (() => void) | null = null;
  const mail = await server(context, {
    onConnect: (_session, callback) => {
      open += 1;
      callback();
    },
    onClose: () => {
      open -= 1;
    },
    onRcptTo: ({ address }, _session, callback) => {
      if (address === ANN) answer = callback;
      else callback();
    },
  });
  const to = mailer(context, mail.url);
  assert.is((await send(to, 'bob@example.com')).kind, 'delivered');
  const sending = send(to);
  await until(() => answer !== null, 'it is being sent');
  to.retire();
  answer!();
  assert.is((await sending).kind, 'delivered');
  await until(() => open === 0, 'the connection is closed');
});

test('the channel keeps its connections, and ends them when it is retired', async (context) => {
  let open = 0;
  const mail = await server(context, {
    onConnect: (_session, callback) => {
      open += 1;
      callback();
    },
    onClose: () => {
      open -= 1;
    },
  });
  const channel = emailChannel({ url: mail.url, from: FROM }, EMAIL_LIMITS);
  context.opened.push(() => channel.close());
  const owner = { id: 'case_1', name: 'Operations', timezone: 'UTC' };
  const known = {
    id: 1,
    fence: 1,
    attempt: 1,
    lastError: null,
    channel: 'email',
    target: ANN,
    webhook: null,
  } as const;
  const sending = { target: ANN, now: AT, stop: new AbortController().signal };
  const sent = await channel.sendAlert({ ...known, alert: anAlert(), case: owner }, sending);
  assert.equal(sent, { kind: 'delivered' });
  assert.is(open, 1);
  channel.retire();
  await until(() => open === 0, 'the connection is closed');
});

test('a closed mailer gives up its sends', async (context) => {
  let asked = 0;
  const mail = await server(context, {
    onRcptTo: () => {
      asked += 1;
    },
  });
  const to = mailer(context, mail.url, 20_000);
  const sending = send(to);
  await until(() => asked > 0, 'it is being sent');
  to.close();
  assert.is((await sending).kind, 'retry');
  const stop = new AbortController();
  const other = mailer(context, mail.url, 20_000);
  const given = other.send(alertMessage(anAlert(), CASE, ANN, other.domain), ANN, stop.signal);
  await until(() => asked > 1, 'it is being sent');
  stop.abort();
  assert.equal(await given, { kind: 'retry', error: 'given up because the service is stopping' });
});

test('a permanent refusal of the recipient or the message is dead, a temporary one is tried again', async (context) => {
  let code = 0;
  let at: 'rcpt' | 'data' = 'rcpt';
  const mail = await server(context, {
    onRcptTo: ({ address }, _session, callback) =>
      callback(at === 'rcpt' && address === ANN ? refusing(code) : null),
    onData: (stream, _session, callback) => {
      stream.resume();
      stream.on('end', () => callback(at === 'data' ? refusing(code) : null));
    },
  });
  const to = mailer(context, mail.url);
  for (const [stage, words] of [
    ['rcpt', 'the recipient'],
    ['data', 'the message'],
  ] as const) {
    at = stage;
    code = 550;
    assert.equal(await send(to), {
      kind: 'dead',
      error: `127.0.0.1:${mail.port} refused ${words}: 550 as the test says`,
    });
    code = 451;
    assert.equal(await send(to), {
      kind: 'retry',
      error: `127.0.0.1:${mail.port} refused ${words}: 451 as the test says`,
    });
  }
  at = 'rcpt';
  code = 550;
  const [bad, good] = await Promise.all([send(to), send(to, 'bob@example.com')]);
  assert.equal([bad.kind, good.kind], ['dead', 'delivered'], 'one bad recipient holds up nobody');
});

test('which answers end the delivery to a recipient, and which are tried again', async (context) => {
  let answer = 0;
  const url = await scripted(context, (socket) => {
    socket.write('220 hello\r\n');
    socket.on('data', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('RCPT')) socket.write(`${answer} as the test says\r\n`);
      else socket.write('250 ok\r\n');
    });
  });
  const to = mailer(context, url);
  const kinds: Record<number, string> = {};
  // Answers about a login are not the recipient's fault, and SMTP has no codes that begin with 6.
  for (answer of [450, 499, 500, 503, 530, 534, 535, 538, 550, 554, 599, 600]) {
    kinds[answer] = (await send(to)).kind;
  }
  const dead = Object.keys(kinds).filter((code) => kinds[Number(code)] === 'dead');
  assert.equal(dead, ['500', '550', '554', '599']);
  assert.ok(Object.values(kinds).every((kind) => kind === 'dead' || kind === 'retry'));
});

test('a refusal of our sender, our login or our connection is tried again', async (context) => {
  const sender = await server(context, { onMailFrom: (_a, _s, callback) => callback(refusing(550)) });
  assert.equal(await send(mailer(context, sender.url)), {
    kind: 'retry',
    error: `127.0.0.1:${sender.port} refused the sender: 550 as the test says`,
  });
  const greeting = await server(context, { onConnect: (_session, callback) => callback(refusing(554)) });
  const refused = await send(mailer(context, greeting.url));
  assert.is(refused.kind, 'retry');
  assert.match((refused as { error: string }).error, /refused the connection: 554/);
});

const WITH_AUTH: SMTPServerOptions = {
  authOptional: false,
  allowInsecureAuth: true,
  onAuth: ({ username, password }, _session, callback) => {
    if (username === 'ops@corp' && password === 'pass word/1') callback(null, { user: username });
    else callback(refusing(535));
  },
};

test('AUTH uses the credentials of the URL, and a wrong password is tried again without being shown', async (context) => {
  const mail = await server(context, WITH_AUTH);
  const url = (password: string) => mail.url.replace('//', `//ops%40corp:${password}@`);
  assert.is((await send(mailer(context, url('pass%20word%2F1')))).kind, 'delivered');
  assert.is(mail.received[0]?.user, 'ops@corp');
  const wrong = await send(mailer(context, url('wrong-secret')));
  assert.is(wrong.kind, 'retry');
  assert.match((wrong as { error: string }).error, /refused the login: 535/);
  assert.not.match((wrong as { error: string }).error, /wrong-secret|d3Jvbmct/);
  assert.is(
    (await send(mailer(context, mail.url))).kind,
    'retry',
    'no credentials where the server wants some',
  );
});

test('STARTTLS is used if it is offered, and implicit TLS with smtps', async (context) => {
  const offered = await server(context, { hideSTARTTLS: false });
  assert.is((await send(mailer(context, offered.url))).kind, 'delivered');
  assert.is(offered.received[0]?.secure, true);
  const implicit = await server(context, { secure: true });
  assert.is((await send(mailer(context, `${implicit.url}?tls.rejectUnauthorized=false`))).kind, 'delivered');
  assert.is(implicit.received[0]?.secure, true);
});

test('if TLS is required, nothing is ever sent unencrypted', async (context) => {
  const plain = await server(context, { disabledCommands: ['STARTTLS'] });
  const without = await send(mailer(context, `${plain.url}?requireTLS=true`));
  assert.is(without.kind, 'retry');
  assert.match((without as { error: string }).error, /does not offer the TLS that smtp\.url requires/);
  assert.is(plain.received.length, 0);
  const selfSigned = await server(context, { hideSTARTTLS: false });
  const untrusted = await send(mailer(context, `${selfSigned.url}?requireTLS=true`));
  assert.is(untrusted.kind, 'retry');
  assert.match((untrusted as { error: string }).error, /TLS with .* failed|certificate/);
  const implicit = await server(context, { secure: true });
  assert.is((await send(mailer(context, implicit.url))).kind, 'retry');
  assert.is(selfSigned.received.length + implicit.received.length, 0);
});

test('a password leaves this host only over TLS, unless the setting allows more', () => {
  const required = (url: string) => smtpOptions({ url, from: FROM }, 3).requireTLS;
  assert.is(required('smtp://user:pass@mail.example.com'), true);
  assert.is(required('smtp://user:pass@mail.example.com?requireTLS=false'), false);
  assert.is(required('smtp://user:pass@localhost:2525'), false);
  assert.is(required('smtp://user:pass@127.0.0.1:2525'), false);
  assert.is(required('smtp://mail.example.com'), false);
  for (const option of ['ignoreTLS', 'opportunisticTLS']) {
    assert.is(required(`smtp://user:pass@mail.example.com?${option}=true`), false, option);
    assert.is(required(`smtp://user:pass@mail.example.com?${option}=false`), true, option);
  }
  assert.is(required('smtp://mail.example.com?requireTLS=true'), true);
  assert.is(smtpOptions({ url: 'smtp://[::1]', from: FROM }, 3).host, '::1');
  assert.is(smtpOptions({ url: 'smtps://mail.example.com', from: FROM }, 3).port, 465);
  assert.is(smtpOptions({ url: 'smtp://mail.example.com', from: FROM }, 3).port, 25);
});

test('a mail server whose name has other letters is looked up by the name that name servers know', () => {
  const hostOf = (host: string) => smtpOptions({ url: `smtp://${host}:587`, from: FROM }, 1).host;
  assert.is(hostOf('mail.bücher.example'), 'mail.xn--bcher-kva.example');
  assert.is(hostOf('mail.b%C3%BCcher.example'), 'mail.xn--bcher-kva.example');
  assert.is(hostOf('mail.example.com'), 'mail.example.com');
  assert.is(hostOf('127.0.0.1'), '127.0.0.1');
});

test('a setting that cannot be used is refused by name, without its value', () => {
  const open = (url: string, from = FROM) => createMailer({ url, from, connections: 1 }).close();
  for (const url of ['http://x:secret@mail', 'smtp://', 'smtp:', 'mail:25', 'nonsense', '']) {
    assert.throws(() => open(url), /^smtp\.url must be/, url);
  }
  assert.throws(() => open('smtp://bad%zz@mail'), /not valid percent-encoding/);
  assert.throws(
    () => open('smtp://x:secret@mail?logger=true'),
    /smtp\.url has an unknown option; it may have requireTLS/,
  );
  assert.throws(() => open('smtp://mail?requireTLS=yes'), /requireTLS must be true or false/);
  assert.throws(() => open('smtp://mail', 'not an address'), /smtp\.from must be an email address/);
});

test('sending to a server that hangs, drips or drops the message takes bounded time and is tried again', async (context) => {
  const silent = await scripted(context, () => undefined);
  assert.is((await send(mailer(context, silent, 250))).kind, 'retry');
  const dripping = await scripted(context, (socket) => {
    const timer = setInterval(() => socket.write('2'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  assert.equal(await send(mailer(context, dripping, 250)), {
    kind: 'retry',
    error: 'no complete answer within 0.25 s',
  });
  const dropping = await scripted(context, (socket) => {
    socket.write('220 hello\r\n');
    socket.on('data', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('DATA')) socket.write('354 go on\r\n');
      else if (/^(EHLO|MAIL|RCPT)/.test(text)) socket.write('250 ok\r\n');
      else socket.destroy();
    });
  });
  const dropped = await send(mailer(context, dropping));
  assert.is(dropped.kind, 'retry');
  assert.match((dropped as { error: string }).error, /closed the connection/);
  const slamming = await scripted(context, (socket) => socket.end());
  const slammed = await send(mailer(context, slamming));
  assert.is(slammed.kind, 'retry');
  assert.match((slammed as { error: string }).error, /closed the connection/);
});

test.run();
