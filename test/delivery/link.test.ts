/** The link that acknowledges an alarm is in every message about it, and in no other. Time limit: 120 s. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_EVENTS } from '../../src/core/channel.ts';
import { signedLinks } from '../../src/daemon/alarm-links.ts';
import { SERVICES } from '../../src/delivery/channels/services.ts';
import type { DelivererOptions } from '../../src/delivery/deliverer.ts';
import { until } from '../until.ts';
import { startMailServer } from './mail-server.ts';
import { Outbox } from './outbox.ts';
import { type Behaviour, type Received, startReceiver } from './receiver.ts';
import { settingsAt } from './service-settings.ts';

const test = suite('the link in the messages of an alarm');

const BASE = 'https://snitch.example.com/ops';
const links = signedLinks(() => 'a key of the tests');

const linkOf: NonNullable<DelivererOptions['linkOf']> = (alert) => {
  const url = links.urlOf(alert, BASE);
  return url === null ? null : { url, words: 'Acknowledge' };
};

const took: Behaviour = (response, { path }) => {
  const answers: [RegExp, number, string][] = [
    [/sendMessage$/, 200, '{"ok":true,"result":{"message_id":17}}'],
    [/m\.room\.message/, 200, '{"event_id":"$root"}'],
    [/^\/services\/|^\/hooks\/s3/, 200, 'ok'],
    [/api\/v1\/messages/, 200, '{"result":"success","id":42}'],
    [/1\/messages\.json/, 200, '{"status":1}'],
    [/enqueue|v2\/alerts/, path === '/api/v2/alerts' ? 200 : 202, '{"status":"success"}'],
    [/^\/workflows/, 202, ''],
  ];
  const [, status, body] = answers.find(([pattern]) => pattern.test(path)) ?? [null, 200, '{"success":true}'];
  response.writeHead(status).end(body);
};

const holding = (received: readonly Received[], text: string) =>
  received.filter(({ body }) => body.includes(text) || decodeURIComponent(body).includes(text));

test('every kind of service, mail and command has it in an alarm, and none in a recovery', async () => {
  await using mail = await startMailServer();
  const outbox = await Outbox.open({ members: ['ann@example.com'] });
  const server = await startReceiver(took);
  try {
    const settings = settingsAt(server.url.replace(/\/hook$/, ''));
    for (const { kind } of SERVICES) {
      const fields = { settings: settings[kind], events: DEFAULT_EVENTS, tags: [] };
      await outbox.store.createChannel(outbox.owner.id, { kind, name: null, fields }, outbox.clock());
    }
    const said = join(outbox.directory, 'said');
    const page = { settings: { command: 'page' }, events: DEFAULT_EVENTS, tags: [] };
    const command = { kind: 'command', name: null, fields: page } as const;
    await outbox.store.createChannel(outbox.owner.id, command, outbox.clock());
    writeFileSync(said, '');
    const script = `printf '%s\\n' "link=$SNITCH_LINK" >>${said}; cat >>${said}`;
    outbox.deliverer({
      linkOf,
      smtp: { url: mail.url, from: 'Snitch <snitch@example.org>' },
      commands: { page: ['/bin/sh', '-c', script] },
      limits: { service: { groupWait: 50 }, email: { groupWait: 50 } },
    });
    const [token = ''] = await outbox.raise(1, { names: ['nightly'] });
    const settled = async () => (await outbox.deliveries('pending')).length === 0;
    await until(settled, 'the alarm is settled');
    const [{ alert } = { alert: null }] = await outbox.store.listAlerts(outbox.owner.id, token, {
      limit: 1,
      before: null,
    });
    const url = alert ? (links.urlOf(alert, BASE) ?? '') : '';
    assert.match(url, /^https:\/\/snitch\.example\.com\/ops\/a\/alert_/);
    const without = server.received.filter((one) => !holding([one], url).includes(one));
    assert.equal(
      without.map(({ path }) => path),
      [],
    );
    assert.is(server.received.length, SERVICES.length);
    const [mailed] = mail.received;
    assert.match(mailed?.parsed.text ?? '', `Acknowledge:\n${url}\n`);
    assert.match(String(mailed?.parsed.html), `<a href="${url}"`);
    assert.match(readFileSync(said, 'utf8'), `link=${url}\n`);
    assert.match(readFileSync(said, 'utf8'), `"link":"${url}"`);
    const before = server.received.length;
    writeFileSync(said, '');
    await outbox.checkIn(token, 'healthy');
    await until(settled, 'the recovery is settled');
    assert.is(server.received.length, 2 * before);
    assert.equal(holding(server.received.slice(before), '/a/alert_'), []);
    assert.not.match(String(mail.received[1]?.raw), '/a/');
    assert.not.match(readFileSync(said, 'utf8'), '/a/alert_');
  } finally {
    await outbox.dispose();
    server.close();
  }
});

test('the body of a webhook stays what the contract says, and a pause has no link', async () => {
  const outbox = await Outbox.open();
  const server = await startReceiver((response) => response.writeHead(200).end());
  try {
    await outbox.target(server.url);
    outbox.deliverer({ linkOf });
    const [token = ''] = await outbox.raise(1);
    await outbox.store.pauseSnitch(outbox.owner.id, token, { kind: 'unpaused' }, outbox.clock());
    await until(() => server.received.length === 2, 'both are there');
    for (const { body } of server.received) {
      assert.equal(Object.keys(JSON.parse(body)), ['type', 'timestamp', 'data']);
      assert.not.match(body, '/a/');
    }
    const alerts = await outbox.store.listAlerts(outbox.owner.id, token, { limit: 10, before: null });
    assert.equal(alerts.map(({ alert }) => [alert.type, links.urlOf(alert, BASE) !== null]).sort(), [
      ['snitch.errored', true],
      ['snitch.paused', false],
    ]);
  } finally {
    await outbox.dispose();
    server.close();
  }
});

test('a signature is valid for one alert only, and nothing is signed without a key', async () => {
  const alert = { id: 'alert_aaaaaaaaaaaaaaaa', at: 1_000 };
  const other = signedLinks(() => 'another key');
  const urlOf = (changed: Partial<typeof alert>, by = links) => {
    const shown = { ...alert, ...changed, type: 'snitch.missing', snitch: {} };
    return by.urlOf(shown as Parameters<typeof by.urlOf>[0], '') ?? '';
  };
  const signature = urlOf({}).split('.')[1] ?? '';
  assert.is(signature.length, 43);
  assert.ok(links.isGenuine(alert, signature));
  assert.not.ok(other.isGenuine(alert, signature));
  assert.not.ok(links.isGenuine({ ...alert, at: 1_001 }, signature));
  assert.not.ok(links.isGenuine({ ...alert, id: 'alert_baaaaaaaaaaaaaaa' }, signature));
  for (const bad of ['', signature.slice(1), `${signature}=`, 'é'.repeat(43)]) {
    assert.not.ok(links.isGenuine(alert, bad), bad);
  }
  const none = signedLinks(() => null);
  assert.is(urlOf({}, none), '');
  assert.not.ok(none.isGenuine(alert, ''));
  const seal = links.sealOf(alert.id, 5_000);
  assert.is(links.madeAt(alert.id, seal), 5_000);
  assert.is(links.madeAt('alert_other', seal), null);
  assert.is(links.madeAt(alert.id, seal.replace('5000', '4000')), null);
  assert.is(links.madeAt(alert.id, `5000.${signature}`), null, 'a signature of a link seals no page');
});

test.run();
