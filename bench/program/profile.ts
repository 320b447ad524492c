/** Where the processor time of a daemon goes. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  /** Microseconds. */
  timeDeltas: number[];
}

const LARGEST = 20;

/** The options with which Node writes a profile to the directory when it ends. */
export function profileInto(directory: string): string[] {
  return ['--cpu-prof', `--cpu-prof-dir=${directory}`];
}

/** Prints the functions with the largest share of own time, over all profiles in the directory. */
export function printProfile(directory: string): void {
  const own = new Map<string, number>();
  for (const file of readdirSync(directory)) {
    addOwnTimes(own, JSON.parse(readFileSync(join(directory, file), 'utf8')) as Profile);
  }
  const total = own.values().reduce((sum, time) => sum + time, 0);
  if (total === 0) {
    console.log('no daemon of this case ended in order, so that none left a profile');
    return;
  }
  console.log('where the processor time of the daemon goes:');
  const largest = [...own].toSorted((one, other) => other[1] - one[1]).slice(0, LARGEST);
  for (const [name, time] of largest) {
    console.log(`  ${((100 * time) / total).toFixed(1).padStart(5)} %  ${name}`);
  }
}

function addOwnTimes(own: Map<string, number>, { nodes, samples, timeDeltas }: Profile): void {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  samples.forEach((id, index) => {
    const { functionName, url } = byId.get(id)?.callFrame ?? { functionName: '(idle)', url: '' };
    if (functionName === '(idle)') return;
    const name = `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}`;
    own.set(name, (own.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  });
}
