/** Asks before something is deleted for good, or much is changed at once. */
import { Failure, UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { canAsk, confirm } from './prompt.ts';

/** @throws UsageError if nobody can be asked, Failure if the answer is no */
export async function confirmDeletion(
  what: readonly string[],
  { force }: { force?: boolean },
): Promise<void> {
  await confirmed(what, {
    force,
    doing: 'deleting',
    heading: 'This will be deleted:',
    question: 'Delete?',
    done: 'deleted',
  });
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
    throw new UsageError(`${doing} needs --force where there is no terminal to ask on`);
  }
  say(heading);
  for (const line of what) say(`  ${line}`);
  if (!(await confirm(`${question} [y/N] `))) throw new Failure(`nothing was ${done}`);
}
