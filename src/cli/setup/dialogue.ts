/** How `snitch setup` asks: `?` explains, `skip` leaves a step out, Ctrl-D leaves all that is still to come. */
import { askUntilRight, type Question, tell } from '../command/prompt.ts';

/** The step is left out. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** The user quits; everything done so far is kept. */
export class Left extends Error {
  override readonly name = 'Left';
}

/** @throws Skipped, Left */
export async function ask(question: Question): Promise<string> {
  const { problem = () => null } = question;
  const answer = await askUntilRight({
    ...question,
    problem: (given) => (given === 'skip' ? null : problem(given)),
  });
  if (answer === null) throw new Left();
  if (answer === 'skip') throw new Skipped();
  return answer;
}

export async function agrees(text: string, otherwise: 'y' | 'n', help?: string): Promise<boolean> {
  const answer = await ask({
    text: `${text} (y/n)`,
    otherwise,
    ...(help === undefined ? {} : { help }),
    problem: (given) => (/^(y|yes|n|no)$/i.test(given) ? null : 'Answer y or n.'),
  });
  return /^y/i.test(answer);
}

export interface Choice<Name extends string> {
  name: Name;
  text: string;
}

/** @param otherwise what an empty answer means */
export async function choose<Name extends string>(
  text: string,
  choices: readonly Choice<Name>[],
  otherwise: Name,
  help?: string,
): Promise<Name> {
  tell(text);
  for (const [index, choice] of choices.entries()) tell(`  ${index + 1} ${choice.text}`);
  const found = (given: string) =>
    choices.find(({ name }, index) => given === name || given === `${index + 1}`);
  const answer = await ask({
    text: 'Your choice',
    otherwise: String(choices.findIndex(({ name }) => name === otherwise) + 1),
    ...(help === undefined ? {} : { help }),
    problem: (given) => (found(given) ? null : `Type a number from 1 to ${choices.length}, or skip.`),
  });
  return found(answer)?.name ?? otherwise;
}
