/** Runs the rounds of one case, of all programs in turn. */
import { mkdirSync } from 'node:fs';
import type { Case, Figures, Rounds } from './cases/case.ts';
import { startBareServer } from './load/bare-server.ts';
import type { Options } from './options.ts';
import { printProfile, profileInto } from './program/profile.ts';
import { type Databases, subjectOf } from './program/subject.ts';
import type { Outcome } from './report/table.ts';
import type { Workplace } from './workplace.ts';

export interface Measuring {
  options: Options;
  workplace: Workplace;
  /** The bundle of the program here, and that of the one it is compared with. */
  bundles: readonly string[];
}

/** The databases of each program. They are kept from case to case, because filling them takes long. */
const databases = new Map<string, Databases>();

/** What went wrong is told, and is part of the outcome: the other cases go on. */
export async function measure(one: Case, measuring: Measuring): Promise<Outcome> {
  const { bundles, options, workplace } = measuring;
  const figures: Figures[][] = bundles.map(() => []);
  const rounds = options.rounds ?? one.rounds;
  const profiles = options.profile ? workplace.path('profiles') : null;
  if (profiles) mkdirSync(profiles);
  let problem: string | null = null;
  try {
    const opened = await openAll(one, measuring, rounds, profiles);
    for (let round = 1; round <= rounds; round += 1) {
      for (const [index, { round: measureRound }] of opened.entries()) {
        console.log(`${one.name}: round ${round} of ${rounds}${index > 0 ? ', the commit beside' : ''}`);
        figures[index]?.push(await measureRound());
      }
    }
    for (const { end } of opened) await end();
    if (profiles) printProfile(profiles);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
    if (!workplace.isEnding) console.error(`${one.name} did not come to its end: ${problem}`);
    // What it left behind is in no known state.
    databases.clear();
  }
  return { case: one, here: figures[0] ?? [], beside: figures[1] ?? [], problem };
}

async function openAll(
  one: Case,
  { options, workplace, bundles }: Measuring,
  rounds: number,
  profiles: string | null,
): Promise<Rounds[]> {
  const bare = await startBareServer(workplace);
  const sizes = { ...options.sizes, rounds };
  const opened: Rounds[] = [];
  for (const [index, bundle] of bundles.entries()) {
    console.log(`${one.name}: preparing`);
    const kept = databases.get(bundle) ?? new Map();
    databases.set(bundle, kept);
    const program = {
      bundle,
      wrapper: [],
      nodeOptions: profiles && index === 0 ? profileInto(profiles) : [],
    };
    opened.push(await one.open(subjectOf({ workplace, sizes, bare, program, databases: kept })));
  }
  return opened;
}
