/** Copies the snippet that makes a job check in, in the form that suits the place where it is pasted. */
import type { Client } from '../../api/client.ts';
import { SNIPPET_TITLES, type SnippetKind, subjectOf } from '../../core/snippets/snippet.ts';
import { snippetFor } from '../../core/snippets/snippets.ts';
import type { Message } from '../model/state.ts';
import { reasonOf } from './reason-of.ts';

export interface CopyParts {
  client: Pick<Client, 'getSnitch' | 'getCase' | 'listBadges'>;
  copy: (text: string) => void;
  program: string;
}

type Say = (text: string, tone: Message['tone']) => void;

export function copyText(
  { copy }: Pick<CopyParts, 'copy'>,
  { text, what }: { text: string; what: string },
  say: Say,
): void {
  copy(text);
  say(`Copied ${what}.`, 'good');
}

export async function copySnippet(
  { client, copy, program }: CopyParts,
  { token, kind }: { token: string; kind: SnippetKind },
  say: Say,
): Promise<void> {
  try {
    const [snitch, { timezone: caseZone }] = await Promise.all([client.getSnitch(token), client.getCase()]);
    const badges = kind === 'badge' ? await client.listBadges() : [];
    const hostZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    const subject = subjectOf(snitch, { caseZone, program, hostZone, badges });
    const { text, remarks } = snippetFor(kind, subject);
    const said = remarks.join(' ');
    if (text === null) return say(said, 'bad');
    copy(text);
    say(`Copied for ${snitch.name}: ${SNIPPET_TITLES[kind]}. ${said}`.trim(), 'good');
  } catch (error) {
    say(`Nothing was copied: ${reasonOf(error as Error)}`, 'bad');
  }
}
