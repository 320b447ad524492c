/** `snitch status-page`: the page that shows a part of the case to others. */
import type { Command } from 'commander';
import { ApiError, type Client } from '../../api/client.ts';
import type { StatusPageInput, WireStatusPage } from '../../api/status-page.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { printable } from '../../text/printable.ts';
import {
  addClientOptions,
  type ClientFlags,
  collect,
  type Register,
  withExamples,
} from '../command/command.ts';
import { confirmDeletion } from '../command/confirm.ts';
import { connect } from '../command/connection.ts';
import { askUntilRight, canAsk } from '../command/prompt.ts';
import { secretIn } from '../command/secret.ts';
import { isTooOld, NotFoundError, UsageError } from '../failure/failure.ts';
import { exactTime, type Field, Output, say, type View } from '../output/output.ts';
import type { Style } from '../output/style.ts';

interface SetFlags extends ClientFlags {
  slug?: string;
  title?: string;
  tag?: string[];
  group?: string[];
  /** False for `--no-groups`. */
  groups?: boolean;
  passwordFile?: string;
  askPassword?: boolean;
  /** False for `--no-password`. */
  password?: boolean;
}

export const register: Register = (program) => {
  const group = program
    .command('status-page')
    .description('a page for others that shows what works and what does not');
  withExamples(
    group,
    'snitch status-page set --slug acme --title "Acme" --tag public',
    'snitch status-page show',
    'snitch status-page announce "We move to a new host on Friday."',
  );
  const show = group
    .command('show')
    .description('show the settings of the page, its address, and its snitches')
    .action((flags: ClientFlags) => showPage(flags));
  withExamples(addClientOptions(show), 'snitch status-page show');
  addSet(group);
  const announce = group
    .command('announce')
    .description('show an announcement on the page, or remove it')
    .argument('[text]', 'the text, shown with the time when it was set')
    .option('--clear', 'take the announcement away')
    .action((text: string | undefined, flags: ClientFlags & { clear?: boolean }) => announceOn(text, flags));
  withExamples(
    addClientOptions(announce),
    'snitch status-page announce "The mail is late. We are on it."',
    'snitch status-page announce --clear',
  );
  const remove = group
    .command('delete')
    .description('remove the page and its feed at once')
    .option('-f, --force', 'do not ask; needed without a terminal')
    .action((flags: ClientFlags & { force?: boolean }) => deletePage(flags));
  withExamples(addClientOptions(remove), 'snitch status-page delete');
};

function addSet(group: Command): void {
  const set = group
    .command('set')
    .description('turn the page on, or change it; what you do not name stays as it is')
    .option('--slug <slug>', 'the end of its address: 3 to 40 of a-z, 0-9 and -')
    .option('--title <title>', 'the title of the page')
    .option('-t, --tag <tag>', 'show snitches with this tag; repeat it for several, "*" for all', collect)
    .option('-g, --group <tag>', 'a tag to use as a heading; repeat it in the order you want', collect)
    .option('--no-groups', 'without headings')
    .option('--password-file <file>', 'a file that holds the password for the page; - reads the input')
    .option('--ask-password', 'ask for the password on the terminal')
    .option('--no-password', 'everybody who knows the address can see it')
    .action((flags: SetFlags) => setPage(flags));
  withExamples(
    addClientOptions(set),
    'snitch status-page set --slug acme --title "Acme" --tag public',
    'snitch status-page set --tag public --group Shop --group Backups',
    `snitch status-page set --slug acme --tag '*' --ask-password`,
  );
}

async function setPage(flags: SetFlags): Promise<void> {
  const input: StatusPageInput = {
    ...(flags.slug === undefined ? {} : { slug: flags.slug }),
    ...(flags.title === undefined ? {} : { title: flags.title }),
    ...(flags.tag === undefined ? {} : { tags: flags.tag }),
    ...(flags.group === undefined ? {} : { groups: flags.group }),
    ...(flags.groups === false ? { groups: [] } : {}),
    ...(await passwordOf(flags)),
  };
  if (Object.keys(input).length === 0) {
    throw new UsageError('nothing to change: `snitch help status-page set` lists what can be changed');
  }
  const client = connect(flags);
  const before = await pageOf(client);
  if (before === null && (input.slug === undefined || input.tags === undefined)) {
    throw new UsageError('there is no page yet: set its address with --slug and what it shows with --tag');
  }
  const page = await client.putStatusPage(input);
  const output = new Output(flags, client.now());
  await print(client, output, page);
  if (output.quiet) return;
  const isOpen = page.password === null;
  const since = isOpen ? 'what it shows is public' : 'who has the password sees what it shows';
  if (before === null) say(`The page is on: ${since} from now on.`);
  const who = `Everybody who knows the address${isOpen ? '' : ' and the password'}`;
  say(`${who} can see the names and the status of these snitches, now and earlier; nothing else.`);
}

async function passwordOf({ passwordFile, askPassword, password }: SetFlags): Promise<StatusPageInput> {
  if ([passwordFile !== undefined, askPassword === true, password === false].filter(Boolean).length > 1) {
    throw new UsageError('use only one of --password-file, --ask-password and --no-password');
  }
  if (password === false) return { password: null };
  if (passwordFile !== undefined) return { password: secretIn(passwordFile) };
  if (!askPassword) return {};
  if (!canAsk()) throw new UsageError('--ask-password needs a terminal: use --password-file');
  const given = await askUntilRight({
    text: 'Password for the page',
    isSecret: true,
    problem: (answer) => (answer.length < 8 ? 'It needs at least 8 characters.' : null),
  });
  if (given === null) throw new UsageError('no password was given');
  return { password: given };
}

async function pageOf(client: Client): Promise<WireStatusPage | null> {
  try {
    return await client.getStatusPage();
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && !isTooOld(error)) return null;
    throw error;
  }
}

/** @throws NotFoundError if it is switched off */
async function requirePage(client: Client): Promise<WireStatusPage> {
  const page = await pageOf(client);
  if (page) return page;
  throw new NotFoundError(
    'there is no status page: `snitch status-page set --slug NAME --tag TAG` creates one',
  );
}

async function showPage(flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const page = await requirePage(client);
  await print(client, new Output(flags, client.now()), page);
}

async function announceOn(text: string | undefined, flags: ClientFlags & { clear?: boolean }): Promise<void> {
  const isClear = flags.clear === true;
  if (isClear === (text !== undefined)) throw new UsageError('give either the text or --clear');
  const client = connect(flags);
  await requirePage(client);
  const page = await client.putStatusPage({ announcement: isClear ? null : (text ?? null) });
  const output = new Output(flags, client.now());
  await print(client, output, page);
}

async function deletePage(flags: ClientFlags & { force?: boolean }): Promise<void> {
  const client = connect(flags);
  const page = await requirePage(client);
  await confirmDeletion([`the status page ${printable(page.url)}, with its feed`], flags);
  await client.deleteStatusPage();
  new Output(flags, client.now()).done(`the status page ${page.url} is gone`);
}

const PAGE_VIEW: View<WireStatusPage> = {
  name: ({ title }) => title,
  id: ({ url }) => url,
  empty: '',
  columns: [],
};

async function print(client: Client, output: Output, page: WireStatusPage): Promise<void> {
  const shown = (await client.listSnitches()).filter((snitch) => isOn(page, snitch));
  output.record(page, fieldsOf(page, shown, output.style), PAGE_VIEW);
}

function isOn({ tags }: WireStatusPage, snitch: WireSnitch): boolean {
  return tags.includes('*') || tags.some((tag) => snitch.tags.includes(tag));
}

/** The most snitches to name. */
const MOST_NAMED = 30;

function fieldsOf(page: WireStatusPage, shown: readonly WireSnitch[], style: Style): Field[] {
  const { title, url, tags, groups, password, announcement, announced_at } = page;
  const names = shown.slice(0, MOST_NAMED).map(nameOf);
  const more = shown.length > names.length ? [`and ${shown.length - names.length} more`] : [];
  const said = announcement === null ? 'none' : `${announcement}\n(${exactTime(announced_at, style)})`;
  return [
    { label: 'Address', text: url, paint: 'bold' },
    { label: 'Title', text: title },
    {
      label: 'Who sees it',
      text: password === null ? 'everybody, without a password' : 'whoever knows the password',
    },
    { label: 'Shows', text: tags.includes('*') ? 'every snitch' : `what is tagged ${tags.join(' or ')}` },
    ...(groups.length > 0 ? [{ label: 'Headings', text: groups.join(', ') }] : []),
    { label: 'Announcement', text: said },
    { label: 'Snitches', text: shown.length === 0 ? 'none now' : [...names, ...more].join('\n') },
  ];
}

function nameOf({ name, public_name: shown }: WireSnitch): string {
  return shown ? `${shown} (here ${name})` : name;
}
