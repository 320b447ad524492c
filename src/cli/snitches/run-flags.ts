/** The options that say how long a run may take, for `create` and `edit`, and whether a server kept them. */
import type { Command } from 'commander';
import type { SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { secondsOf } from './due-flags.ts';

/** False is for `--no-max-runtime`, which only `edit` has. */
export interface RunFlags {
  maxRuntime?: string | false;
}

export type RunInput = Pick<SnitchInput, 'max_runtime'>;

export function addRunOptions(command: Command): Command {
  return command.option(
    '--max-runtime <duration>',
    'how long a run may take from its reported start, such as 2h: then the snitch fails',
  );
}

export function addRunRemovals(command: Command): Command {
  return command.option('--no-max-runtime', 'a run may take as long as it wants');
}

/** Only what is given. @throws UsageError for anything not understood */
export function runOf({ maxRuntime }: RunFlags): RunInput {
  if (maxRuntime === undefined) return {};
  return { max_runtime: maxRuntime === false ? null : secondsOf(maxRuntime, '--max-runtime') };
}

/** Which of the wanted settings a server ignored because it is too old, in words. */
export function runsLost(snitch: WireSnitch, { max_runtime: wanted }: RunInput): string[] {
  const isLost = wanted !== undefined && wanted !== null && snitch.max_runtime !== wanted;
  return isLost ? ['the longest time for its runs'] : [];
}
