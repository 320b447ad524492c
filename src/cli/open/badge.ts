/** `snitch badge`: pictures for other pages that show the status of a snitch, or of all with a tag. */
import type { BadgeInput, Client } from '../../api/client.ts';
import type { WireBadge } from '../../api/wire-badge.ts';
import { badgeHtml, badgeMarkdown } from '../../core/snippets/badge.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { NotFoundError, UsageError } from '../failure/failure.ts';
import { exactTime, Output, say, shownTime, type View } from '../output/output.ts';

export const register: Register = (program) => {
  const badge = program
    .command('badge')
    .description('pictures for other pages: the status of a snitch, or the worst of a tag');
  withExamples(
    badge,
    'snitch badge add nightly-backup       prints what to paste',
    'snitch badge add --tag web --label "our web site"',
    'snitch badge delete BADGE',
  );
  const list = badge
    .command('list', { isDefault: true })
    .description('list the badges')
    .action((flags: ClientFlags) => listBadges(flags));
  withExamples(addClientOptions(list), 'snitch badge list', 'snitch badge list --json');
  const add = badge
    .command('add')
    .description('make a badge; everybody who knows its address can see it')
    .argument('[snitch]', 'its token or name')
    .option('-t, --tag <tag>', 'instead of one snitch, the worst of those with the tag')
    .option('-l, --label <text>', 'the text on it (default: the name, or the tag)')
    .action((snitch: string | undefined, flags: AddFlags) => addBadge(snitch, flags));
  withExamples(
    addClientOptions(add),
    'snitch badge add nightly-backup',
    'snitch badge add --tag web --label "our web site"',
  );
  const remove = badge
    .command('delete')
    .description('delete a badge: its address shows nothing any more')
    .argument('<badge>', 'its id, or its address')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((given: string, flags: ClientFlags & { force?: boolean }) => deleteBadge(given, flags));
  withExamples(addClientOptions(remove), 'snitch badge delete badge_abcdefghij234567');
};

interface AddFlags extends ClientFlags {
  tag?: string;
  label?: string;
}

/** What it is for: `nightly-backup`; `tag web` */
export function badgeOf({ name, tag }: Pick<WireBadge, 'name' | 'tag'>): string {
  return tag === null ? (name ?? '') : `tag ${tag}`;
}

const BADGE_VIEW: View<WireBadge> = {
  name: ({ id }) => id,
  id: ({ id }) => id,
  empty: 'no badges: create one with `snitch badge add NAME`',
  columns: [
    { header: 'OF', cell: badgeOf, shrinkTo: 10 },
    { header: 'LABEL', cell: ({ label }) => label ?? '', shrinkTo: 8, optional: true },
    { header: 'ID', cell: ({ id }) => id },
    { header: 'CREATED', cell: ({ created_at }, style) => shownTime(created_at, style), optional: true },
    { header: 'URL', cell: ({ url }) => url, wide: true },
  ],
};

async function listBadges(flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const badges = await client.listBadges();
  new Output(flags, client.now()).list(badges, BADGE_VIEW);
}

async function addBadge(given: string | undefined, flags: AddFlags): Promise<void> {
  const { tag, label } = flags;
  if ((given === undefined) === (tag === undefined)) {
    throw new UsageError('say what it is for: the name of a snitch, or --tag TAG');
  }
  const client = connect(flags);
  const input: BadgeInput = given === undefined ? { tag: tag ?? '' } : await tokenOf(client, given);
  const badge = await client.createBadge(label === undefined ? input : { ...input, label });
  const output = new Output(flags, client.now());
  printBadge(badge, output);
  if (tag !== undefined && !output.quiet && (await client.listSnitches([tag])).length === 0) {
    say(`no snitch has the tag "${tag}" now: the badge says "unknown" until one has`);
  }
}

async function tokenOf(client: Client, given: string): Promise<BadgeInput> {
  return { token: (await resolveSnitch(client, given)).token };
}

/** What people will paste is on lines of its own, unbroken however narrow the terminal is. */
function printBadge(badge: WireBadge, output: Output): void {
  output.record(
    badge,
    [
      { label: 'Badge', text: badge.id, paint: 'bold' },
      { label: 'Of', text: badgeOf(badge) },
      ...(badge.label === null ? [] : [{ label: 'Label', text: badge.label }]),
      { label: 'Created', text: exactTime(badge.created_at, output.style) },
    ],
    BADGE_VIEW,
  );
  if (output.quiet || (output.format !== 'table' && output.format !== 'wide')) return;
  const pasted = { url: badge.url, alt: badge.label ?? badge.tag ?? badge.public_name ?? badge.name ?? '' };
  output.lines(['', badgeMarkdown(pasted), badgeHtml(pasted), badge.url]);
  if (badge.name !== null && badge.public_name === null && badge.label === null) {
    say('whoever sees the badge can read the name of the snitch; use --label to show something else');
  }
}

async function deleteBadge(given: string, flags: ClientFlags & { force?: boolean }): Promise<void> {
  const client = connect(flags);
  const id = /(?:^|\/)(badge_[a-z2-7]+)(?:\.(?:svg|json))?$/.exec(given)?.[1] ?? given;
  const badge = (await client.listBadges()).find((one) => one.id === id);
  if (!badge) {
    throw new NotFoundError(`there is no badge "${given}"\n\`snitch badge list\` lists them`);
  }
  await confirmDeletion([`${badge.id}, the badge of ${badgeOf(badge)}`], flags);
  await client.deleteBadge(badge.id);
  new Output(flags).done(`${badge.id}: deleted`);
}
