/** `snitch export`: writes a case as a file that can make it again. It never has keys or the secrets of webhooks. */
import { Document, isMap, isScalar, type Scalar, visit } from 'yaml';
import type { Client } from '../../api/client.ts';
import type { WireChannel, WireSnitch } from '../../api/wire.ts';
import type { ClientFlags } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { channelsOf } from '../doctor/channels.ts';
import { NotFoundError } from '../failure/failure.ts';
import { Output, say } from '../output/output.ts';
import { print } from '../output/pieces.ts';
import { presentOf } from './apply-check.ts';
import type { Present } from './apply-plan.ts';
import { patiently } from './apply-steps.ts';
import { channelEntry, inFileOrder } from './channel-entries.ts';
import { lengthText } from './due-fields.ts';
import { type NeededNames, neededNames, needsEntry } from './file-needs.ts';
import { runEntry } from './run-fields.ts';

export interface ExportFlags extends ClientFlags {
  owner?: string;
  /** False for `--no-tokens`. */
  tokens: boolean;
}

export async function exportCase(flags: ExportFlags): Promise<void> {
  const client = connect(flags);
  const present = await patiently(() => presentOf(client));
  // They belong to the case: if the files of several owners had them, --prune with one would delete those of the
  // others.
  const channels = flags.owner === undefined ? await patiently(() => channelsOf(client)) : [];
  const output = new Output(flags);
  const file = fileOf(present, channels, flags);
  if (output.format === 'json') output.json(file);
  else print(yamlPieces(file, flags.tokens));
  if (flags.owner === undefined && !output.quiet) await tellWebhooks(client);
}

/** Whoever moves with the file must not find out from silence that nothing is posted any more. */
async function tellWebhooks(client: Client): Promise<void> {
  // The file is written already, so a failure here must not look as if it were incomplete.
  const { length } = await client.listWebhooks().catch(() => []);
  if (length === 0) return;
  const left = length === 1 ? '1 webhook is not in the file' : `${length} webhooks are not in the file`;
  say(`${left}, because its server makes the secret of each: \`snitch webhook add URL\` makes one elsewhere`);
}

type Exported = Record<string, unknown>;

interface ExportedFile extends Exported {
  owner: string | null;
  snitches: Exported[];
}

function fileOf(
  { case: settings, snitches, ownership }: Present,
  channels: readonly WireChannel[],
  flags: ExportFlags,
): ExportedFile {
  const { name, timezone, members, reminders } = settings;
  const kept = new Set(ownership.filter(({ owner }) => owner === flags.owner).map(({ token }) => token));
  const chosen = flags.owner === undefined ? snitches : snitches.filter(({ token }) => kept.has(token));
  if (flags.owner !== undefined && chosen.length === 0) {
    throw new NotFoundError(`no snitch is kept by a file with the owner "${flags.owner}"`);
  }
  const names = neededNames(snitches);
  const owners = new Map(ownership.map(({ token, owner }) => [token, owner]));
  const owner = flags.owner ?? mostFrequent(chosen.map(({ token }) => owners.get(token)));
  return {
    owner,
    case: { name, timezone, members, reminders },
    ...(channels.length > 0 ? { channels: inFileOrder(channels).map(channelEntry) } : {}),
    snitches: chosen.toSorted(byName).map((snitch) => {
      const keeper = owners.get(snitch.token) ?? null;
      return { ...entryOf(snitch, names, flags.tokens), ...(keeper === owner ? {} : { owner: keeper }) };
    }),
  };
}

/** Null if there is no owner. Of several that are equally frequent, it is always the same one. */
function mostFrequent(owners: readonly (string | undefined)[]): string | null {
  const counts = new Map<string, number>();
  for (const owner of owners) if (owner !== undefined) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const sorted = [...counts].sort(([one, many], [other, more]) => more - many || (one < other ? -1 : 1));
  return sorted[0]?.[0] ?? null;
}

/** The order is always the same, so that version control shows only what changed. */
function byName(one: WireSnitch, other: WireSnitch): number {
  const [mine, theirs] = one.name === other.name ? [one.token, other.token] : [one.name, other.name];
  return mine < theirs ? -1 : 1;
}

/** Leaves out what has its default. */
function entryOf(snitch: WireSnitch, names: NeededNames, withToken: boolean): Exported {
  const { name, public_name, alert_type, alert_email, tags, notes, token } = snitch;
  return {
    name,
    ...(public_name ? { public_name } : {}),
    ...dueOf(snitch),
    ...runEntry(snitch),
    ...needsEntry(snitch, names),
    ...(alert_type === 'basic' ? {} : { alert_type }),
    ...(alert_email.length === 0 ? {} : { alert_email }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(notes === '' ? {} : { notes }),
    ...(withToken ? { token } : {}),
  };
}

/** With a schedule, the interval follows from it and is left out. */
function dueOf({ interval, schedule, timezone, grace }: WireSnitch): Exported {
  const every = schedule && 'every' in schedule ? { every: lengthText(schedule.every) } : schedule;
  return {
    ...(every ? { schedule: every } : { interval }),
    ...(timezone ? { timezone } : {}),
    ...(typeof grace === 'number' ? { grace: lengthText(grace) } : {}),
  };
}

const HEADING = ' Made by `snitch export`; `snitch diff -f` and `snitch apply -f` read it.';
const NO_OWNER =
  ' No file keeps these snitches. Give this one a name (`owner: NAME`) if an apply with --prune should delete from them.';
const WARNING = ' The tokens are secrets: whoever knows one can check in for its job.';

/** How many snitches become one document: the nodes of a million take more memory than most hosts have. */
const AT_ONCE = 1_000;

/** The file in pieces, which together are the same as if it had been written as one document. */
export function* yamlPieces(file: ExportedFile, withTokens: boolean): Generator<string> {
  const { snitches, ...rest } = file;
  const head = documentOf({ ...rest, snitches: snitches.slice(0, AT_ONCE) });
  const lines = [HEADING, ...(withTokens ? [WARNING] : []), ...(file.owner === null ? [NO_OWNER] : [])];
  head.commentBefore = lines.join('\n');
  explainChannels(head);
  yield textOf(head);
  for (let at = AT_ONCE; at < snitches.length; at += AT_ONCE) {
    // Without the line `snitches:`, which the first piece has.
    yield textOf(documentOf({ snitches: snitches.slice(at, at + AT_ONCE) })).replace(/^.*\n/, '');
  }
}

function documentOf(content: Exported): Document {
  const document = new Document(content);
  visit(document, { Scalar: (_key, node) => quoteWhatHides(node) });
  return document;
}

function textOf(document: Document): string {
  return document.toString({ lineWidth: 0 }).replace(HIDING, escaped);
}

const SECRETS =
  ' Their secrets are not in this file. null keeps what the server has; else name a file that holds it.';

function explainChannels({ contents }: Document): void {
  const pair = isMap(contents)
    ? contents.items.find(({ key }) => isScalar(key) && key.value === 'channels')
    : null;
  const hasSecrets = JSON.stringify(pair?.value ?? null).includes('"secret_file":');
  if (hasSecrets && isScalar(pair?.key)) pair.key.commentBefore = SECRETS;
}

/** Characters that control a terminal, are invisible or get lost at line breaks. In quotes they can be escaped. */
const HIDING = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function quoteWhatHides(node: Scalar): void {
  if (isScalar(node) && typeof node.value === 'string' && node.value.search(HIDING) >= 0) {
    node.type = 'QUOTE_DOUBLE';
  }
}

function escaped(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
}
