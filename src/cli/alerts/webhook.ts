/** `snitch webhook`: where alerts are posted to. */

import type { Client } from '../../api/client.ts';
import { withoutCredentials } from '../../api/shown-url.ts';
import type { WireDelivery, WireWebhook } from '../../api/wire.ts';
import { delay } from '../../system/delay.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { secretIn } from '../command/secret.ts';
import { Failure, NotFoundError } from '../failure/failure.ts';
import { Output, shownTime, type View } from '../output/output.ts';

export const register: Register = (program) => {
  const webhook = program.command('webhook').description('where alerts are posted to');
  withExamples(
    webhook,
    'snitch webhook add https://example.com/alerts      prints the signing secret, once',
    'snitch webhook test WEBHOOK',
    'snitch webhook rotate WEBHOOK',
  );
  const list = webhook
    .command('list', { isDefault: true })
    .description('list the webhooks')
    .action((flags: ClientFlags) => listWebhooks(flags));
  withExamples(addClientOptions(list), 'snitch webhook list');
  const add = webhook
    .command('add')
    .description('add a webhook, and print the secret that its requests are signed with')
    .argument('<url>', 'http:// or https://; "-" reads it from the input, out of sight of `ps`')
    .option('--notices', 'also the notices that the service itself was blind (service.blind)')
    .action((url: string, flags: AddFlags) => addWebhook(url, flags));
  withExamples(
    addClientOptions(add),
    'snitch webhook add https://example.com/alerts',
    'echo "https://user:password@example.com/alerts" | snitch webhook add -',
  );
  const remove = webhook
    .command('remove')
    .description('remove a webhook; deliveries that wait for it are not sent')
    .argument('<webhook>', 'its id, or its URL')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((given: string, flags: ClientFlags & { force?: boolean }) => removeWebhook(given, flags));
  withExamples(addClientOptions(remove), 'snitch webhook remove https://example.com/alerts');
  const test = webhook
    .command('test')
    .description('send a test alert, and say whether it arrived')
    .argument('<webhook>', 'its id, or its URL')
    .action((given: string, flags: ClientFlags) => testWebhook(given, flags));
  withExamples(addClientOptions(test), 'snitch webhook test https://example.com/alerts');
  const rotate = webhook
    .command('rotate')
    .description('give a webhook a new secret; for a day the old one signs as well')
    .argument('<webhook>', 'its id, or its URL')
    .action((given: string, flags: ClientFlags) => rotateSecret(given, flags));
  withExamples(addClientOptions(rotate), 'snitch webhook rotate https://example.com/alerts');
};

const WEBHOOK_VIEW: View<WireWebhook> = {
  name: ({ url }) => url,
  id: ({ id }) => id,
  empty: 'no webhooks: add one with `snitch webhook add URL`',
  columns: [
    { header: 'ID', cell: ({ id }) => id },
    { header: 'URL', cell: ({ url }) => url, shrinkTo: 20 },
    { header: 'NOTICES', cell: ({ notices }) => (notices ? 'yes' : ''), optional: true },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), optional: true },
  ],
};

async function listWebhooks(flags: ClientFlags): Promise<void> {
  new Output(flags).list(await connect(flags).listWebhooks(), WEBHOOK_VIEW);
}

interface AddFlags extends ClientFlags {
  notices?: boolean;
}

async function addWebhook(given: string, flags: AddFlags): Promise<void> {
  const url = given === '-' ? secretIn('-') : given;
  printSecret(await connect(flags).createWebhook(url, flags.notices), flags);
}

/** With `-q` prints only the secret, for a script that stores it. */
function printSecret(webhook: WireWebhook, flags: ClientFlags): void {
  const output = new Output(flags);
  const { id, url, secret = '' } = webhook;
  output.record(
    webhook,
    [
      { label: 'Webhook', text: id },
      { label: 'URL', text: url },
      { label: 'Secret', text: secret, paint: 'bold' },
    ],
    { name: () => url, id: () => secret },
  );
  output.done('the secret is shown only this once: the receiver checks the webhook-signature header with it');
}

async function resolveWebhook(client: Client, given: string): Promise<WireWebhook> {
  const all = await client.listWebhooks();
  const shown = URL.canParse(given) ? withoutCredentials(given) : given;
  const found = all.find(({ id }) => id === given) ?? all.find(({ url }) => url === given || url === shown);
  if (found) return found;
  throw new NotFoundError(`no webhook has the id or the URL "${shown}"\n\`snitch webhook list\` lists them`);
}

async function removeWebhook(given: string, flags: ClientFlags & { force?: boolean }): Promise<void> {
  const client = connect(flags);
  const { id, url } = await resolveWebhook(client, given);
  await confirmDeletion([`webhook ${id}, ${url}`], flags);
  await client.deleteWebhook(id);
  new Output(flags).done(`${url}: removed`);
}

async function rotateSecret(given: string, flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { id } = await resolveWebhook(client, given);
  printSecret(await client.rotateWebhookSecret(id), flags);
}

async function testWebhook(given: string, flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const { id, url } = await resolveWebhook(client, given);
  const output = new Output(flags);
  const delivery = await awaitDelivery(client, await client.testWebhook(id));
  if (output.format === 'json') output.json(delivery);
  const { state, attempts, last_error } = delivery;
  if (state === 'delivered') output.done(`${url}: delivered`);
  else if (attempts === 0) throw new Failure(`${url}: no attempt was made yet; is the daemon busy?`);
  else throw new Failure(`${url}: ${last_error ?? 'not delivered'}`);
}

/** A target has 30 s to answer, so this waits a little longer; milliseconds. */
const PATIENCE = 40_000;
const LOOK_EVERY = 250;

/**
 * Waits for the first attempt.
 *
 * @param patience how long to wait, in milliseconds
 * @returns the delivery after its first attempt, or as it is when the time is over
 */
export async function awaitDelivery(
  client: Client,
  sent: WireDelivery,
  patience = PATIENCE,
): Promise<WireDelivery> {
  const end = performance.now() + patience;
  let delivery = sent;
  while (isUntried(delivery) && performance.now() < end) {
    await delay(LOOK_EVERY);
    const [found] = await client.listDeliveries({ limit: 1, before: String(Number(sent.id) + 1) });
    if (found?.id === sent.id) delivery = found;
  }
  return delivery;
}

/** An attempt that is under way is already counted in `attempts`. */
export function isUntried({ state, attempts, sending }: WireDelivery): boolean {
  return state === 'pending' && (attempts === 0 || sending);
}
