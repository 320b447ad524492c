/** The options that say what a snitch needs, for `create` and `edit`. */
import type { Command } from 'commander';
import type { Client, SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { needOf } from '../../core/needs/needs.ts';
import { collectAnew } from '../command/command.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { UsageError } from '../failure/failure.ts';

/** False is for `--no-needs`, which only `edit` has. */
export interface NeedFlags {
  needs?: string[] | false;
}

export type NeedInput = Pick<SnitchInput, 'needs'>;

export function addNeedOptions(command: Command): Command {
  return command.option(
    '--needs <snitch>',
    'do not alert about its silence while this other one is missing: a name, a token or tag:TAG; repeat it for several (`edit` replaces them all)',
    collectAnew,
  );
}

export function addNeedRemovals(command: Command): Command {
  return command.option('--no-needs', 'it needs nothing; an alert that is being held is sent at once');
}

/** Only what is given, as tokens. @throws NotFoundError, and UsageError for a name that several snitches have */
export async function needsOf(client: Client, { needs }: NeedFlags): Promise<NeedInput> {
  if (needs === undefined) return {};
  if (needs === false) return { needs: [] };
  if (needs.some((one) => one.trim().toLowerCase() === 'none')) {
    throw new UsageError(
      `--needs none: leave it out, or write --no-needs in \`snitch edit\`, to need nothing`,
    );
  }
  const named = needs.filter((one) => 'token' in needOf(one));
  const found = named.length === 0 ? [] : await resolveEach(client, named);
  const tokens = new Map(named.map((name, index) => [name, found[index]?.token ?? name]));
  return { needs: [...new Set(needs.map((one) => tokens.get(one) ?? one))] };
}

/** One for each name, even if two mean the same snitch. */
async function resolveEach(client: Client, named: readonly string[]): Promise<WireSnitch[]> {
  const found: WireSnitch[] = [];
  for (const name of named) found.push(...(await resolveSnitches(client, [name])));
  return found;
}

/** Which of the wanted settings the answer lacks because the server is too old, in words. */
export function needsLost(snitch: WireSnitch, { needs }: NeedInput): string[] {
  return needs?.length && snitch.needs === undefined ? ['what it needs'] : [];
}
