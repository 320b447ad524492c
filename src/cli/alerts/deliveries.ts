/** `snitch alerts` and `deliveries`: what was decided, and whether it reached anybody. */
import { type Command, Option } from 'commander';
import type { Client } from '../../api/client.ts';
import type { WireAlert, WireDelivery } from '../../api/wire.ts';
import { whyUntold } from '../../core/explanation/told.ts';
import { STATUS_COLORS } from '../../text/signs.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { limitOf } from '../output/count.ts';
import { exactTime, Output, shownTime, type View } from '../output/output.ts';
import type { Paint } from '../output/style.ts';
import { nextText, reasonLabel, statePaint, stateText } from './delivery-words.ts';
import { awaitDelivery, isUntried } from './webhook.ts';

interface PageFlags extends ClientFlags {
  limit: string;
  before?: string;
}

export const register: Register = (program) => {
  const alerts = program
    .command('alerts')
    .description('list the alerts, newest first, and whether they were delivered')
    .argument('[snitch]', 'only those of this snitch');
  addPage(alerts).action((name: string | undefined, flags: PageFlags) => listAlerts(name, flags));
  withExamples(addClientOptions(alerts), 'snitch alerts', 'snitch alerts nightly-backup -n 5');
  addDeliveries(program);
};

function addPage(command: Command): Command {
  return command
    .option('-n, --limit <count>', 'how many', '20')
    .option('--before <time>', 'only those before this ISO 8601 time, or the one with this id');
}

function pageOf({ limit, before }: PageFlags) {
  return { limit: limitOf(limit), ...(before ? { before } : {}) };
}

const ALERT_PAINTS: Record<string, Paint> = {
  'snitch.missing': 'red',
  'snitch.errored': STATUS_COLORS.errored,
  'snitch.reporting': 'green',
  'snitch.paused': STATUS_COLORS.paused,
};

const ALERT_VIEW: View<WireAlert> = {
  name: ({ id }) => id,
  id: ({ id }) => id,
  empty: 'no alerts',
  columns: [
    { header: 'WHEN', cell: ({ timestamp }, style) => shownTime(timestamp, style) },
    {
      header: 'ALERT',
      cell: ({ type, flapping }) =>
        `${type.replace(/^snitch\./, '')}${flapping ? `, ${flapping.phase === 'over' ? 'flapped' : 'flapping'}` : ''}`,
      paint: ({ type }) => (Object.hasOwn(ALERT_PAINTS, type) ? (ALERT_PAINTS[type] ?? null) : null),
    },
    { header: 'SNITCH', cell: (alert) => alert.snitch?.name ?? describeNotice(alert), shrinkTo: 12 },
    { header: 'BEFORE', cell: ({ snitch }) => snitch?.previous_status ?? '', optional: true },
    {
      header: 'DELIVERIES',
      cell: (alert) => summary(alert),
      paint: worst,
    },
    // After the columns that scripts already know.
    { header: 'WHY', cell: ({ reason }) => reason ?? '', shrinkTo: 12, optional: true },
    { header: 'TOKEN', cell: ({ snitch }) => snitch?.token ?? '', wide: true },
    { header: 'ID', cell: ({ id }) => id, wide: true },
  ],
};

function describeNotice({ notice, refusal }: WireAlert): string {
  if (refusal) return `${refusal.channel.name} is refused by ${refusal.channel.kind}`;
  return notice ? `the service was blind; ${notice.postponed_count} postponed` : 'a notice';
}

function summary({ deliveries, notice }: WireAlert): string {
  const count = (state: WireDelivery['state']) => deliveries.filter((one) => one.state === state).length;
  const parts = (['dead', 'pending', 'delivered', 'dropped'] as const)
    .map((state) => ({ state, many: count(state) }))
    .filter(({ many }) => many > 0);
  return parts.map(({ state, many }) => `${many} ${state}`).join(', ') || whyUntold(notice);
}

function worst({ deliveries, notice }: WireAlert): Paint | null {
  if (deliveries.length === 0) return notice ? null : 'red';
  if (deliveries.some(({ state }) => state === 'dead')) return 'red';
  return deliveries.some(({ state }) => state === 'pending') ? 'yellow' : null;
}

async function listAlerts(name: string | undefined, flags: PageFlags): Promise<void> {
  const page = pageOf(flags);
  const client = connect(flags);
  const token = name === undefined ? null : (await resolveSnitch(client, name)).token;
  const alerts = await client.listAlerts(token, page);
  const output = new Output(flags, client.now());
  output.list(alerts, ALERT_VIEW);
  if (alerts.some(({ deliveries }) => deliveries.some(({ state }) => state === 'dead'))) {
    output.hint('some were not delivered: `snitch deliveries list --state dead` says why');
  }
}

function addDeliveries(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('list, show or retry what is being sent and what was sent');
  withExamples(
    deliveries,
    'snitch deliveries list --state dead',
    'snitch deliveries show 17',
    'snitch deliveries retry 17',
    'snitch deliveries retry --dead',
  );
  const list = deliveries
    .command('list', { isDefault: true })
    .description('list the deliveries, newest first')
    .addOption(
      new Option('-s, --state <state>', 'only those in this state').choices([
        'pending',
        'delivered',
        'dead',
        'dropped',
      ]),
    );
  addPage(list).action((flags: DeliveryFlags) => listDeliveries(flags));
  withExamples(addClientOptions(list), 'snitch deliveries list', 'snitch deliveries list --state pending');
  const show = deliveries
    .command('show')
    .description('show everything about a delivery')
    .argument('<delivery>', 'its id')
    .action((id: string, flags: ClientFlags) => showDelivery(id, flags));
  withExamples(addClientOptions(show), 'snitch deliveries show 17');
  const retry = deliveries
    .command('retry')
    .description('send again what is dead or waiting')
    .argument('[delivery...]', 'ids')
    .option('--dead', 'all that are dead')
    .action((ids: string[], flags: RetryFlags) => retryDeliveries(ids, flags));
  withExamples(addClientOptions(retry), 'snitch deliveries retry 17 18', 'snitch deliveries retry --dead');
}

const DELIVERY_VIEW: View<WireDelivery> = {
  name: ({ id }) => id,
  id: ({ id }) => id,
  empty: 'no deliveries',
  columns: [
    { header: 'ID', cell: ({ id }) => id, align: 'right' },
    { header: 'STATE', cell: stateText, paint: statePaint },
    { header: 'BY', cell: ({ channel }) => channel, optional: true },
    { header: 'TO', cell: ({ target }) => target, shrinkTo: 16 },
    { header: 'ABOUT', cell: aboutDelivery, shrinkTo: 12 },
    { header: 'TRIES', cell: ({ attempts }) => String(attempts), align: 'right', optional: true },
    {
      header: 'SENT OR NEXT',
      cell: ({ delivered_at, next_attempt_at }, style) =>
        shownTime(delivered_at ?? next_attempt_at, style, ''),
    },
    { header: 'LAST ERROR', cell: ({ last_error }) => last_error ?? '', shrinkTo: 12, optional: true },
    { header: 'ALERT', cell: ({ alert }) => alert, wide: true },
  ],
};

/** `nightly-backup: missing`; empty if the server is too old to say. */
function aboutDelivery({ snitch, type }: Partial<WireDelivery>): string {
  const word = type?.replace(/^(snitch|service)\./, '') ?? '';
  return snitch ? `${snitch.name}: ${word}` : word && `the service: ${word}`;
}

interface DeliveryFlags extends PageFlags {
  state?: WireDelivery['state'];
}

async function listDeliveries(flags: DeliveryFlags): Promise<void> {
  const filter = { ...pageOf(flags), ...(flags.state ? { state: flags.state } : {}) };
  const client = connect(flags);
  const deliveries = await client.listDeliveries(filter);
  new Output(flags, client.now()).list(deliveries, DELIVERY_VIEW);
}

/** The API has no path for a single delivery, but a page can begin with it. */
async function findDelivery(client: Client, id: string): Promise<WireDelivery> {
  const missing = new NotFoundError(`no delivery has the id "${id}"\n\`snitch deliveries list\` lists them`);
  if (!/^\d{1,14}$/.test(id)) throw missing;
  const [delivery] = await client.listDeliveries({ limit: 1, before: String(Number(id) + 1) });
  if (delivery?.id !== String(Number(id))) throw missing;
  return delivery;
}

async function showDelivery(id: string, flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const delivery = await findDelivery(client, id);
  const output = new Output(flags, client.now());
  output.record(
    delivery,
    [
      { label: 'Delivery', text: delivery.id },
      { label: 'State', text: stateText(delivery, output.style), paint: statePaint(delivery) },
      { label: 'To', text: `${delivery.target} by ${delivery.channel}` },
      { label: 'Attempts', text: String(delivery.attempts) },
      { label: reasonLabel(delivery), text: delivery.last_error ?? 'none' },
      {
        label: 'Next attempt',
        text: nextText(delivery, output.style),
      },
      { label: 'Delivered', text: exactTime(delivery.delivered_at, output.style, 'not yet') },
      { label: 'About', text: aboutDelivery(delivery) || 'unknown' },
      { label: 'Alert', text: delivery.alert },
    ],
    DELIVERY_VIEW,
  );
  if (delivery.state === 'dead') output.hint(`send it again: snitch deliveries retry ${delivery.id}`);
}

interface RetryFlags extends ClientFlags {
  dead?: boolean;
}

async function retryDeliveries(ids: readonly string[], flags: RetryFlags): Promise<void> {
  if ((ids.length === 0) === !flags.dead)
    throw new UsageError('name the deliveries to retry, or all with --dead');
  const client = connect(flags);
  const output = new Output(flags);
  const chosen = flags.dead ? await allDead(client) : ids;
  const queued: WireDelivery[] = [];
  const unknown: string[] = [];
  for (const id of chosen) {
    const delivery = await unlessMissing(client.retryDelivery(id));
    if (delivery) queued.push(delivery);
    else unknown.push(id);
  }
  const retried = queued.length > AWAITED ? queued : await awaitAll(client, queued);
  for (const delivery of retried) output.done(outcome(delivery));
  if (chosen.length === 0) output.done('no delivery is dead');
  if (output.format === 'json') output.json(retried);
  if (retried.some(isUntried)) {
    output.hint('to see what becomes of them: `snitch deliveries list`');
  }
  if (unknown.length > 0) {
    throw new NotFoundError(
      `no delivery has the id ${unknown.map((id) => `"${id}"`).join(' or ')}\n\`snitch deliveries list\` lists them`,
    );
  }
}

/** The other deliveries named are retried anyway. */
async function unlessMissing<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error;
    return null;
  }
}

/** The outcome is awaited for at most this many deliveries. For more the server would be asked too often. */
const AWAITED = 10;

/** How long to wait for the outcome of a retry, in milliseconds. */
const PATIENCE = 10_000;

async function awaitAll(client: Client, queued: readonly WireDelivery[]): Promise<WireDelivery[]> {
  const end = performance.now() + PATIENCE;
  const ended: WireDelivery[] = [];
  for (const one of queued) ended.push(await awaitDelivery(client, one, end - performance.now()));
  return ended;
}

function outcome(delivery: WireDelivery): string {
  const { id, target, state, last_error, next_attempt_at } = delivery;
  if (state === 'delivered') return `${id}: delivered to ${target}`;
  if (isUntried(delivery)) return `${id}: waits to be sent to ${target} again`;
  const next = state === 'pending' && next_attempt_at !== null ? `; next attempt ${next_attempt_at}` : '';
  return `${id}: not delivered to ${target}: ${last_error}${next}`;
}

async function allDead(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for (let before: string | undefined; ; ) {
    const page = await client.listDeliveries({ state: 'dead', limit: 1_000, ...(before ? { before } : {}) });
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1)?.id;
    if (page.length < 1_000) return ids;
  }
}
