/** Says which snitches of a file are kept by another owner, and what to write into the file. */

import { shellWord } from '../../text/shell-word.ts';
import type { Conflict, Plan, Present } from './apply-plan.ts';
import { problemAt, type SnitchFile } from './snitch-file.ts';

/** Up to this many snitches of another owner are listed one by one. More of them have a common cause. */
const TOLD_ONE_BY_ONE = 3;

/** @returns lines for the user; none if the owner in the file may keep all of its snitches */
export function ownerFaults(
  present: Present,
  file: SnitchFile,
  plan: Plan,
  takeOver: string | null,
): string[] {
  const keeps = (name: string | null) => present.ownership.some(({ owner }) => owner === name);
  if (takeOver !== null && file.owner === null) {
    return ['--take-over needs a file that has an owner: write `owner: NAME` as its first line'];
  }
  // When the command is repeated there is nothing left to take over, which is no mistake.
  if (takeOver !== null && !keeps(takeOver) && !keeps(file.owner)) {
    return [`--take-over: no snitch is kept by "${takeOver}"`];
  }
  return [...foreignFaults(file, plan.conflicts), ...(keeps(file.owner) ? [] : lostOwner(file, plan))];
}

/** Reports snitches that the file names by token, and that another owner keeps. */
function foreignFaults(file: SnitchFile, conflicts: readonly Conflict[]): string[] {
  const foreign = conflicts.filter(({ keeper }) => keeper !== null);
  const faults = [...Map.groupBy(foreign, ({ keeper }) => keeper ?? '')].map(([keeper, ofKeeper]) => {
    const advice = adviceFor(file, keeper);
    if (ofKeeper.length > TOLD_ONE_BY_ONE) {
      const line = file.entries[ofKeeper[0]?.index ?? 0]?.line ?? 1;
      const what = `${ofKeeper.length} snitches of this file are kept by another, whose owner is "${keeper}"`;
      return [problemAt(file.path, line, what), advice];
    }
    const lines = ofKeeper.map((conflict) => oneFault(file, conflict));
    return file.namesOwner ? lines : [...lines, advice];
  });
  return faults.flat();
}

function oneFault(file: SnitchFile, { index, attribute, message }: Conflict): string {
  const { input, line = 1, lines = {} } = file.entries[index] ?? {};
  return problemAt(file.path, lines[attribute] ?? line, `${input?.name}: ${attribute}: ${message}`);
}

function adviceFor({ namesOwner }: SnitchFile, keeper: string): string {
  const takeOver = `to take them over from it: --take-over ${shellWord(keeper)}`;
  return namesOwner
    ? takeOver
    : `if this is that file, under another name: write ${ownerLine(keeper)} as its first line; ${takeOver}`;
}

/**
 * A file that does not name its owner has its file name as owner. If that owner keeps nothing, but another owner keeps
 * snitches of the same names, then most likely the file was moved, or comes from the standard input this time.
 */
function lostOwner(file: SnitchFile, { create }: Plan): string[] {
  const twins = create.filter(({ beside }) => beside !== null);
  if (file.namesOwner || file.owner === null || twins.length === 0) return [];
  const byKeeper = [...Map.groupBy(twins, ({ beside }) => beside ?? '')];
  const [[keeper, those] = ['', []]] = byKeeper.sort(([, one], [, other]) => other.length - one.length);
  const many =
    those.length === 1
      ? 'one of its snitches has the name'
      : `${those.length} of its snitches have the names`;
  return [
    problemAt(
      file.path,
      1,
      `owner: is missing, and nothing is kept by "${file.owner}", the name that the file goes by; but ${many} of what "${keeper}" keeps`,
    ),
    `if it is the file of those, moved or piped: write ${ownerLine(keeper)} as its first line; if it is another one: ${ownerLine(file.owner)}`,
  ];
}

/** The line that names the owner, quoted if YAML requires it. */
function ownerLine(owner: string): string {
  return `\`owner: ${/^[A-Za-z][\w. -]*$/.test(owner) && !/^(?:null|true|false)$/i.test(owner) ? owner.trimEnd() : JSON.stringify(owner)}\``;
}

/** If the file has nothing that its owner keeps, it is probably another file with the same owner. */
export function strangeness({ owner, gone, change, unchanged, create }: Plan): string | null {
  if (gone.length === 0 || create.length === 0 || change.length + unchanged > 0) return null;
  const absent =
    gone.length === 1
      ? `the snitch that "${owner}" keeps is not`
      : `none of the ${gone.length} snitches that "${owner}" keeps is`;
  return `${absent} in this file: if it is another file, give it its own owner`;
}
