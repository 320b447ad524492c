/**
 * What an entry of a snitch file says of how a run must look. An entry that names none of the fields leaves them as they
 * are: it may be from before they existed.
 */
import type { WireImported, WireSnitch } from '../../api/wire.ts';
import { Failure } from '../failure/failure.ts';

export const RUN_FIELDS = ['max_runtime'] as const;

type Entry = Readonly<Record<string, unknown>>;

export function namesRuns(input: Entry): boolean {
  return RUN_FIELDS.some((field) => input[field] !== undefined);
}

/** Whether anything of its runs is watched. */
export function watchesRuns(snitch: Pick<WireSnitch, (typeof RUN_FIELDS)[number]>): boolean {
  return RUN_FIELDS.some((field) => snitch[field] != null);
}

/** @throws Failure for a server that would ignore the fields */
export function checkKnowsRuns(understood: WireImported): void {
  const unknown = RUN_FIELDS.filter((field) => understood[field] === undefined);
  if (unknown.length === 0) return;
  throw new Failure(
    `nothing was changed: the server does not know ${unknown.join(', ')}, and has to be updated first`,
  );
}
