/** Asks before something is deleted for good, or much is changed at once. */
import { Failure, UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { type ConnectionFlags, type KeyKind, serverInWords } from './connection.ts';
import { canAsk, confirm } from './prompt.ts';

/**
 * @param flags those of the server, which is named if there are several
 * @param kind the key that deletes; null if nothing is deleted at a server
 * @throws UsageError if nobody can be asked, Failure if the answer is no
 */
export async function confirmDeletion(
  what: readonly string[],
  flags: ConnectionFlags & { force?: boolean },
  kind: KeyKind | null = 'case',
): Promise<void> {
  const { force } = flags;
  await confirmed(what, {
    force,
    doing: 'deleting',
    heading: `This will be deleted${force || kind === null ? '' : placeOf(flags, kind)}:`,
    question: 'Delete?',
    done: 'deleted',
  });
}

/** ` on home (https://snitch.example.com)`; empty if there is only one server. */
export function placeOf(flags: ConnectionFlags, kind: KeyKind = 'case'): string {
  const words = serverInWords(flags, kind);
  return words === null ? '' : ` on ${words}`;
}

interface Asked {
  force?: boolean | undefined;
  doing: string;
  heading: string;
  question: string;
  done: string;
}

/** @throws UsageError if nobody can be asked, Failure if the answer is no */
export async function confirmed(
  what: readonly string[],
  { force, doing, heading, question, done }: Asked,
): Promise<void> {
  if (force) return;
  if (!canAsk()) {
    throw new UsageError(`${doing} needs --force without a terminal to ask on`);
  }
  say(heading);
  for (const line of what) say(`  ${line}`);
  if (!(await confirm(`${question} [y/N] `))) throw new Failure(`nothing was ${done}`);
}
