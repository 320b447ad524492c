/** Asks before something is deleted for good, or much is changed at once. */
import { Failure, UsageError } from '../failure/failure.ts';
import { say } from '../output/output.ts';

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
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError(`${doing} needs --force where there is no terminal to ask on`);
  }
  say(heading);
  for (const line of what) say(`  ${line}`);
  if (!(await confirm(`${question} [y/N] `))) throw new Failure(`nothing was ${done}`);
}

/** @returns whether the answer was yes; the end of the input counts as no */
export async function confirm(question: string): Promise<boolean> {
  const { createInterface } = process.getBuiltinModule('node:readline');
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await new Promise<string>((resolve) => {
      reader.once('close', () => resolve(''));
      reader.question(question, resolve);
    });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
