import { print } from '../output/pieces.ts';

/** The build replaces this with the version in package.json. */
declare const SNITCH_VERSION: string | undefined;

/** If the program runs from its sources, no build has given it a version. */
export const VERSION = typeof SNITCH_VERSION === 'string' ? SNITCH_VERSION : '0.0.0-development';

export function showVersion(): number {
  print([`snitch ${VERSION}\n`]);
  return 0;
}

export async function showLicenses(): Promise<number> {
  const { readLicenses } = await import('./licenses.ts');
  print([readLicenses()]);
  return 0;
}
