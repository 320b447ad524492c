import { sql as initial } from './0001_initial.ts';
import { sql as owner } from './0002_owner.ts';
import { sql as blindness } from './0004_blindness.ts';
import { sql as flapping } from './0005_flapping.ts';

/** In order: the schema's version is the number of migrations that ran. A migration that was released never changes. */
export const migrations: readonly string[] = [initial, owner, blindness, flapping];
