/** Refuses words after a group of commands, such as `snitch webhook`, that are none of its commands. */
import type { Command } from 'commander';
import { didYouMean } from '../../text/similar.ts';
import { UsageError } from '../failure/failure.ts';

/** What other commands, and other programs, call the same thing. */
const SAME: readonly (readonly string[])[] = [
  ['remove', 'delete', 'rm', 'del'],
  ['add', 'create', 'new', 'make'],
  ['edit', 'set', 'update', 'change'],
  ['list', 'ls', 'show', 'get'],
];

/**
 * Without this, a group that lists by default would complain that its list has too many arguments.
 *
 * @throws UsageError that names the intended command, if that can be guessed
 */
export function assertSubcommand(program: Command, argv: readonly string[]): void {
  let place = program;
  const path: string[] = [];
  for (const word of argv) {
    const inner = place.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!inner) {
      refuseUnknown(place, path, word);
      return;
    }
    place = inner;
    path.push(word);
  }
}

function refuseUnknown(group: Command, path: readonly string[], word: string): void {
  const { _defaultCommandName: usual } = group as Command & { _defaultCommandName?: string | null };
  const inner = group.commands.find((one) => one.name() === usual);
  if (!inner || inner.registeredArguments.length > 0 || word.startsWith('-')) return;
  const names = group.commands.map((one) => one.name());
  const meant = SAME.find((words) => words.includes(word))?.find((one) => names.includes(one));
  const all = path.join(' ');
  const hint = meant ? ` Here it is: snitch ${all} ${meant}` : didYouMean(word, names);
  throw new UsageError(`unknown command "${all} ${word}".${hint}\nsee \`snitch help ${all}\``);
}
