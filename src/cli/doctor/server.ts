/** How `snitch doctor` checks the server: whether it answers, works, has the right time, and reaches anybody. */
import { ApiError, type Client, createClient, type Probe } from '../../api/client.ts';
import type { WireWebhook } from '../../api/wire.ts';
import { MINUTE, shortDuration } from '../../text/durations.ts';
import { awaitDelivery } from '../alerts/webhook.ts';
import { type Connection, type ConnectionFlags, findAddress, findConnection } from '../command/connection.ts';
import { whereKeysOfNodesAre } from '../command/keys.ts';
import { describeFailure } from '../failure/failure.ts';
import { asRoot } from './as-root.ts';
import { channelsOf, checkChannel } from './channels.ts';
import { type Finding, failure, ok, warning } from './findings.ts';
import { checkSilences } from './silences.ts';
import { checkTeam } from './team.ts';

const CLOCK_WARNING = 5_000;
const CLOCK_FAILURE = MINUTE;
const CONNECT_WITHIN = 5_000;

export async function checkServer(flags: ConnectionFlags, send: boolean): Promise<Finding[]> {
  let connection: Connection;
  try {
    connection = findConnection(flags);
  } catch (error) {
    return [...(await checkWithoutKey(flags)), broken('API key', error)];
  }
  const { url, urlSource, keySource } = connection;
  const client = createClient(connection);
  const answer = await probe(client);
  if ('failed' in answer) return [broken('server', answer.failed)];
  return [
    ok('server', `${url} answers (address from ${urlSource})`),
    checkSweep(answer),
    ...warningsIn(answer),
    checkClock(answer),
    ...(await checkCase(client, { keySource, isKnown: answer.own, send })),
  ];
}

/** Checks what needs no key: whether it answers and works. */
async function checkWithoutKey(flags: ConnectionFlags): Promise<Finding[]> {
  let url: string;
  try {
    url = findAddress(flags);
  } catch {
    return [];
  }
  const answer = await probe(createClient({ url, apiKey: '' }));
  if ('failed' in answer) return [broken('server', answer.failed)];
  return [ok('server', `${url} answers`), checkSweep(answer), ...warningsIn(answer), checkClock(answer)];
}

function broken(check: string, error: unknown): Finding {
  const [message = '', ...advice] = describeFailure(error).lines;
  return failure(check, message, advice.join('; ') || 'check the log of the daemon');
}

async function probe(
  client: Client,
): Promise<(Probe & { asked: number; answered: number }) | { failed: unknown }> {
  const asked = Date.now();
  try {
    return { ...(await client.probe('/readyz')), asked, answered: Date.now() };
  } catch (failed) {
    return { failed };
  }
}

/** A restart on a full disk may fail, and one after a database was moved has to be an orderly stop. */
const NOT_READY =
  'check the log of the daemon; a restart helps only if the sweep or the outbox hangs, and not if a disk is full, a database is away, or an upgrade is under way';

function checkSweep({ status, text }: Probe): Finding {
  if (status === 200) return sweepOf(text);
  if (status !== 503) {
    return failure('sweep', `/readyz answered with status ${status}`, 'is this a snitch server? Check --url');
  }
  return failure('sweep', problemsIn(text), NOT_READY);
}

/** Mentions work in progress, because an alarm may have to wait for it. */
function sweepOf(text: string): Finding {
  const progress = listIn(text, 'progress').join('; ');
  if (progress === '') return ok('sweep', 'deadlines are checked, alerts are sent, the store can be written');
  return ok('sweep', `alerts are sent, the store can be written; the server is ${progress}`);
}

/** Problems that do not keep a server from working but should be fixed; so far only that of its clock. */
function warningsIn({ text }: Probe): Finding[] {
  const remedy = `on its host: ${asRoot('timedatectl set-ntp true')}`;
  return listIn(text, 'warnings').map((message) => warning('clocks', message, remedy));
}

function problemsIn(text: string): string {
  return listIn(text, 'problems').join('; ') || 'the server is not ready';
}

function listIn(text: string, name: 'problems' | 'progress' | 'warnings'): string[] {
  try {
    const found = (JSON.parse(text) as Record<string, unknown>)[name];
    return Array.isArray(found) ? found.map(String) : [];
  } catch {
    return [];
  }
}

/** The header has whole seconds, so a second more or less means nothing. */
function checkClock({ date, asked, answered }: Probe & { asked: number; answered: number }): Finding {
  const server = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(server))
    return warning(
      'clock',
      'the server does not send its time',
      'does a proxy in front of it remove the Date header?',
    );
  const off = Math.max(0, asked - (server + 1_000), server - answered);
  if (off < CLOCK_WARNING) return ok('clock', 'the clocks of this host and of the server agree');
  const message = `the clocks of this host and of the server differ by ${shortDuration(off)}`;
  const remedy = `set both with NTP: ${asRoot('timedatectl set-ntp true')}`;
  return off < CLOCK_FAILURE ? warning('clock', message, remedy) : failure('clock', message, remedy);
}

interface Examination {
  keySource: string;
  /** Whether the answers of the API say that a snitch server gave them, which those of older versions do not. */
  isKnown: boolean;
  send: boolean;
}

const RIGHT_KEY =
  "use the `api_key` from the daemon's credentials.yaml, or ask whoever has its `admin_key` for a key";

async function checkCase(client: Client, { keySource, isKnown, send }: Examination): Promise<Finding[]> {
  try {
    const [own, webhooks, channels] = await Promise.all([
      client.getCase(),
      client.listWebhooks(),
      channelsOf(client),
    ]);
    const targets = await Promise.all(
      webhooks.map((webhook) => (send ? sendTest(client, webhook) : checkTarget(webhook))),
    );
    return [
      ok('API key', `good for the case ${own.name} (from ${keySource})`),
      ...(await checkInAddresses(client, isKnown)),
      await checkTeam(client, own, { webhooks, channels }),
      ...targets,
      ...(await Promise.all(channels.map((channel) => checkChannel(client, channel, send)))),
      ...(await checkSilences(client)),
    ];
  } catch (error) {
    if (error instanceof ApiError && error.status === 403 && (await mayProvision(client))) {
      const able = 'can check in by name and create snitches, and nothing else';
      return [ok('API key', `${able} (from ${keySource})`)];
    }
    const finding = broken('API key', error);
    const message = `${finding.message} (from ${keySource})`;
    return [{ ...finding, message, ...remedyOf(error, keySource) }];
  }
}

/** For a key that the server refuses; nothing if something else is wrong. */
function remedyOf(error: unknown, keySource: string): Pick<Finding, 'remedy'> {
  if (!(error instanceof ApiError)) return {};
  if (error.status === 403) return { remedy: RIGHT_KEY };
  if (error.status !== 401) return {};
  return { remedy: whereKeysOfNodesAre(keySource) ?? UNKNOWN_KEY };
}

const UNKNOWN_KEY =
  'the server does not know this key: it was deleted, or is for another server. Create one with `snitch key create` where commands work, and put it there';

/** Checks in by a name that no snitch can have, so that nothing is recorded. */
async function mayProvision(client: Client): Promise<boolean> {
  const { status, own } = await client.probe('/c/-/%00');
  return own && status === 404;
}

/** Checks whether the addresses that the server gives to jobs lead back to it from this host. */
async function checkInAddresses(client: Client, isKnown: boolean): Promise<Finding[]> {
  const bases = new Set<string>();
  await client.eachSnitch(({ check_in_url, token }) => {
    bases.add(check_in_url.slice(0, -encodeURIComponent(token).length - 1));
  });
  return Promise.all([...bases].map((base) => checkInAddress(base, isKnown)));
}

/** Checks in for a snitch that does not exist, so that nothing is recorded. */
async function checkInAddress(base: string, isKnown: boolean): Promise<Finding> {
  const remedy = 'check `base_url` and `check_in_base` of the daemon, and the proxy in front of it';
  try {
    const { status, own } = await createClient({ url: base, apiKey: '' }).probe('/snitch-doctor/start');
    if (own && status === 404) return ok('check-ins', `${base} leads to a snitch server`);
    if (!isKnown && status === 404) return warning('check-ins', unproven(base), 'upgrade the daemon');
    return failure('check-ins', `${base} answered with status ${status}, and not as a snitch server`, remedy);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    return failure('check-ins', message, remedy);
  }
}

function unproven(base: string): string {
  return `cannot tell whether ${base} leads to a snitch server: the daemon is an older version, or a proxy removes its headers`;
}

/** Connects but sends nothing, because the answer to an unexpected request would prove little. */
async function checkTarget({ url }: WebhookAddress): Promise<Finding> {
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const number = Number(port) || (protocol === 'https:' ? 443 : 80);
  const fault = await connectionFault(host, number, protocol === 'https:');
  if (fault === null) return ok('webhook', `${url} accepts connections`);
  return failure(
    'webhook',
    `${url}: ${fault}`,
    'is the receiver running? `snitch doctor --send ADDRESS` sends it a test alert',
  );
}

type WebhookAddress = Pick<WireWebhook, 'url'>;

async function connectionFault(host: string, port: number, tls: boolean): Promise<string | null> {
  const { connect: connectTls } = process.getBuiltinModule('node:tls');
  const { connect, isIP } = process.getBuiltinModule('node:net');
  const name = isIP(host) === 0 ? { servername: host } : {};
  return new Promise((resolve) => {
    const socket = tls ? connectTls({ host, port, ...name }) : connect({ host, port });
    const finish = (fault: string | null) => {
      resolve(fault);
      socket.destroy();
    };
    socket.once(tls ? 'secureConnect' : 'connect', () => finish(null));
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.message || (error.code ?? 'failed')));
    socket.setTimeout(CONNECT_WITHIN, () => finish('timed out connecting'));
  });
}

async function sendTest(client: Client, { id, url }: WireWebhook): Promise<Finding> {
  const { state, last_error } = await awaitDelivery(client, await client.testWebhook(id));
  if (state === 'delivered') return ok('webhook', `${url} accepted a test alert`);
  return failure(
    'webhook',
    `${url}: ${last_error ?? 'no attempt was made'}`,
    'check the log of the receiver',
  );
}
