/** The check of the mail server: what it reports, what arrives, and that no connection stays open. */
import { createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkMail } from '../../src/delivery/smtp/mail-check.ts';
import { until } from '../until.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

const FROM = 'Snitch <snitch@corp.example>';
const ANN = 'ann@example.com';
const NOW = Date.UTC(2026, 10, 21, 5, 4, 3);

const test = suite<{ mail: MailServer; open: () => number }>('a try of the mail server');

test.before.each(async (context) => {
  let open = 0;
  context.open = () => open;
  context.mail = await startMailServer({
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, callback) => {
      if (password === 'right-password') callback(null, { user: 'me' });
      else callback(refusal(535, `no, not ${password}`));
    },
    onRcptTo: ({ address }, _session, callback) =>
      callback(address === ANN ? null : refusal(550, 'nobody of that name')),
    onConnect: (_session, callback) => {
      open += 1;
      callback();
    },
    onClose: () => {
      open -= 1;
    },
  });
});

test.after.each(({ mail }) => mail.close());

function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

test('without a recipient it logs in, sends nothing, and leaves', async ({ mail, open }) => {
  const url = mail.url.replace('//', '//me:right-password@');
  assert.equal(await checkMail({ url, from: FROM }, null, NOW), {
    server: `127.0.0.1:${mail.port}`,
    problem: null,
  });
  assert.is(mail.received.length, 0);
  await until(() => open() === 0, 'the connection is closed');
});

test('with one it sends a mail that says what it is, and leaves', async ({ mail, open }) => {
  assert.is((await checkMail({ url: mail.url, from: FROM }, ANN, NOW)).problem, null);
  const [received, ...others] = mail.received;
  assert.equal(others, []);
  assert.equal([received?.from, received?.recipients], ['snitch@corp.example', [ANN]]);
  const { subject, text, html, messageId, date } = received!.parsed;
  assert.is(subject, '[Test] Snitch can send email');
  assert.match(text ?? '', 'the test mail that `snitch doctor --send` was asked for');
  assert.match(html || '', '<code>snitch doctor --send</code>');
  assert.is(messageId, `<snitch.test.${NOW}@corp.example>`);
  assert.is(date?.getTime(), NOW);
  await until(() => open() === 0, 'the connections are closed');
});

test('a refused login is reported without the password, and no mail is tried', async ({ mail, open }) => {
  const url = mail.url.replace('//', '//me:wrong-password@');
  const { problem } = await checkMail({ url, from: FROM }, ANN, NOW);
  assert.match(problem ?? '', `127.0.0.1:${mail.port} refused the login: 535 no, not ***`);
  assert.is(mail.received.length, 0);
  await until(() => open() === 0, 'the connection is closed');
});

test('a refused recipient is reported', async ({ mail }) => {
  const { problem } = await checkMail({ url: mail.url, from: FROM }, 'eve@example.com', NOW);
  assert.is(problem, `127.0.0.1:${mail.port} refused the recipient: 550 nobody of that name`);
});

test('an absent server is reported', async ({ mail }) => {
  await mail.close();
  const { problem } = await checkMail({ url: mail.url, from: FROM }, ANN, NOW);
  assert.match(problem ?? '', `connection refused by 127.0.0.1:${mail.port}`);
});

test('a server that never finishes its answer is given up', async () => {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    const drip = setInterval(() => socket.write('220-wait\r\n'), 20);
    socket.on('error', () => {}).on('close', () => clearInterval(drip));
  });
  try {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { problem } = await checkMail({ url: `smtp://127.0.0.1:${port}`, from: FROM }, ANN, NOW, 200);
    assert.is(problem, `127.0.0.1:${port} does not finish answering`);
  } finally {
    for (const socket of open) socket.destroy();
    server.close();
  }
});

test.run();
