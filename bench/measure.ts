/** Runs the rounds of one case, of all contenders in turn. */
import { mkdirSync } from 'node:fs';
import type { Case, Figures, Rounds } from './cases/case.ts';
import { startBareServer } from './load/bare-server.ts';
import type { Options } from './options.ts';
import { printProfile, profileInto } from './program/profile.ts';
import { type Databases, type OnPostgres, subjectOf } from './program/subject.ts';
import type { Workplace } from './workplace.ts';

/**
 * A program on one kind of store, with the databases that are kept from case to case because filling them takes long.
 */
export interface Contender {
  /** Printed after each of its rounds; empty for the main one. */
  name: string;
  bundle: string;
  place: OnPostgres | null;
  databases: Databases;
}

export interface Measuring {
  options: Options;
  workplace: Workplace;
  contenders: readonly Contender[];
}

/** The figures of the rounds of each contender, and what went wrong, or null. */
export interface Measured {
  figures: readonly (readonly Figures[])[];
  problem: string | null;
}

/** What went wrong is printed and is part of the outcome, so that the other cases can continue. */
export async function measure(one: Case, measuring: Measuring): Promise<Measured> {
  const { contenders, options, workplace } = measuring;
  const figures: Figures[][] = contenders.map(() => []);
  const rounds = options.rounds ?? one.rounds;
  const profiles = options.profile ? workplace.path('profiles') : null;
  if (profiles) mkdirSync(profiles);
  let problem: string | null = null;
  try {
    const opened = await openAll(one, measuring, rounds, profiles);
    for (let round = 1; round <= rounds; round += 1) {
      for (const [index, { round: measureRound }] of opened.entries()) {
        const name = contenders[index]?.name ?? '';
        console.log(`${one.name}: round ${round} of ${rounds}${name && `, ${name}`}`);
        figures[index]?.push(await measureRound());
      }
    }
    for (const { end } of opened) await end();
    if (profiles) printProfile(profiles);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
    if (!workplace.isEnding) console.error(`${one.name} did not come to its end: ${problem}`);
    // The databases that it left behind are in an unknown state.
    for (const { databases } of contenders) databases.clear();
  }
  return { figures, problem };
}

async function openAll(
  one: Case,
  { options, workplace, contenders }: Measuring,
  rounds: number,
  profiles: string | null,
): Promise<Rounds[]> {
  const bare = await startBareServer(workplace);
  const sizes = { ...options.sizes, rounds };
  const opened: Rounds[] = [];
  for (const [index, { name, bundle, place, databases }] of contenders.entries()) {
    console.log(`${one.name}: preparing${name && `, ${name}`}`);
    const program = {
      bundle,
      wrapper: [],
      nodeOptions: profiles && index === 0 ? profileInto(profiles) : [],
    };
    opened.push(await one.open(subjectOf({ workplace, sizes, bare, program, databases, place })));
  }
  return opened;
}
