/** `snitch open`: what a person pastes next to make a job check in. */
import { type Command, Option } from 'commander';
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import type { WireBadge } from '../../api/wire-badge.ts';
import {
  SNIPPET_KINDS,
  SNIPPET_TITLES,
  type Snippet,
  type SnippetKind,
  type SnippetSubject,
  subjectOf,
} from '../../core/snippets/snippet.ts';
import { snippetFor } from '../../core/snippets/snippets.ts';
import { clipboardSequence } from '../../text/clipboard.ts';
import { printable } from '../../text/printable.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { installedProgram } from '../command/own-program.ts';
import { resolveSnitch } from '../command/resolve.ts';
import { Failure, isTooOld, UsageError } from '../failure/failure.ts';
import { Output, say } from '../output/output.ts';
import { paint } from '../output/style.ts';

interface OpenFlags extends ClientFlags {
  for?: SnippetKind;
  copy?: boolean;
}

export const register: Register = (program) => {
  const open: Command = program
    .command('open')
    .description('print what to paste next, so that its job checks in')
    .argument('<snitch>', 'its token or name')
    .addOption(new Option('--for <where>', 'print only this form, ready for a file').choices(SNIPPET_KINDS))
    .option('--copy', 'copy it to the clipboard of the terminal as well (OSC 52)')
    .action((given: string, flags: OpenFlags) => openSnitch(given, flags));
  withExamples(
    addClientOptions(open),
    'snitch open nightly-backup',
    'snitch open nightly-backup --for crontab --copy',
    'snitch open nightly-backup --for kubernetes > cronjob.yaml',
  );
};

async function openSnitch(given: string, flags: OpenFlags): Promise<void> {
  if (flags.copy && flags.for === undefined) {
    throw new UsageError(`--copy copies one thing: say which with --for ${SNIPPET_KINDS.join('|')}`);
  }
  const client = connect(flags);
  const snitch = await resolveSnitch(client, given);
  const subject = await readSubject(client, snitch, flags.for);
  const output = new Output(flags, client.now());
  if (flags.for === undefined) {
    printAll(
      SNIPPET_KINDS.map((kind) => snippetFor(kind, subject)),
      output,
    );
    return;
  }
  const snippet = snippetFor(flags.for, subject);
  printOne(snippet, output);
  if (flags.copy && snippet.text !== null)
    copy(snippet.text, `${SNIPPET_TITLES[snippet.kind]} of ${snitch.name}`, output);
}

/** The case and the badges are requested only if they are needed. */
async function readSubject(
  client: Client,
  snitch: WireSnitch,
  kind: SnippetKind | undefined,
): Promise<SnippetSubject> {
  const wantsBadge = kind === undefined || kind === 'badge';
  const wantsZone = kind !== 'badge' && snitch.timezone == null;
  return subjectOf(snitch, {
    caseZone: wantsZone ? (await client.getCase()).timezone : 'UTC',
    program: installedProgram(),
    hostZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    badges: wantsBadge ? await badgesOf(client, kind) : [],
  });
}

/** A server from before badges has everything else that is printed. */
async function badgesOf(client: Client, kind: SnippetKind | undefined): Promise<WireBadge[] | null> {
  try {
    return await client.listBadges();
  } catch (error) {
    if (kind === undefined && error instanceof ApiError && isTooOld(error)) return null;
    throw error;
  }
}

/** Prints nothing but the text on stdout. @throws Failure if there is none */
function printOne(snippet: Snippet, output: Output): void {
  const { text, remarks } = snippet;
  if (output.format === 'json') output.json(snippet);
  else if (text === null) throw new Failure(remarks.join('\n'));
  else if (output.format === 'name') output.lines([snippet.kind]);
  else output.lines(linesOf(text));
  if (output.format !== 'json' && text !== null) for (const remark of remarks) output.done(remark);
}

/** Each below its title. Even on a terminal long lines are not wrapped, because a broken one could not be pasted. */
function printAll(snippets: readonly Snippet[], output: Output): void {
  if (output.format === 'json') {
    output.json(snippets);
    return;
  }
  if (output.format === 'name') {
    output.lines(snippets.filter(({ text }) => text !== null).map(({ kind }) => kind));
    return;
  }
  for (const [at, { kind, text, remarks }] of snippets.entries()) {
    const heading = paint(output.style, 'bold', `${SNIPPET_TITLES[kind]} (--for ${kind})`);
    const said = output.quiet ? [] : remarks.map((remark) => paint(output.style, 'dim', printable(remark)));
    output.lines([
      ...(at === 0 ? [] : ['']),
      heading,
      '',
      ...(text === null ? [] : [...linesOf(text), '']),
      ...said,
    ]);
  }
}

/** Each snippet is already escaped for its language; this catches what nobody thought of. */
function linesOf(text: string): string[] {
  return text.split('\n').map(printable);
}

/** @throws Failure if there is no terminal to copy with, or the text is too long for it */
function copy(text: string, what: string, output: Output): void {
  const terminal = [process.stdout, process.stderr].find(({ isTTY }) => isTTY);
  if (!terminal) throw new Failure('nothing was copied: copying needs a terminal, and there is none');
  const sequence = clipboardSequence(text, process.env);
  if (sequence === null) throw new Failure('nothing was copied: it is too long for the terminal');
  terminal.write(sequence);
  if (!output.quiet) say(`copied, if the terminal allows it: ${what}`);
}
