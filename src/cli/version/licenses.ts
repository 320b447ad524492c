/** The licences that the build has collected. They are in a file next to the code, or inside the executable. */
import { readFileSync } from 'node:fs';
import { getAsset, isSea } from 'node:sea';
import { Failure } from '../failure/failure.ts';

const LICENSES = 'licenses.txt';

/** @throws Failure if the program runs from its sources */
export function readLicenses(): string {
  if (isSea()) return getAsset(LICENSES, 'utf8');
  try {
    return readFileSync(new URL(LICENSES, import.meta.url), 'utf8');
  } catch {
    throw new Failure('only the built program knows its licences: run `npm run build`');
  }
}
