import { sql as initial } from './0001_initial.ts';
import { sql as owner } from './0002_owner.ts';
import { sql as firstForms } from './0003_first_forms.ts';
import { sql as blindness } from './0004_blindness.ts';
import { sql as flapping } from './0005_flapping.ts';
import { steps as narrowKeys } from './0006_narrow_keys.ts';
import { sql as schedules } from './0007_schedules.ts';
import { sql as runs } from './0008_runs.ts';
import { sql as values } from './0009_values.ts';
import { sql as names } from './0010_names.ts';
import { sql as channels } from './0011_channels.ts';
import { sql as routes } from './0012_routes.ts';
import { sql as acknowledged } from './0013_acknowledged.ts';
import { sql as silences } from './0014_silences.ts';
import { sql as needs } from './0015_needs.ts';
import { sql as activity } from './0016_activity.ts';
import { sql as statusPages } from './0017_status_pages.ts';
import { sql as badges } from './0018_badges.ts';
import { sql as nodes } from './0019_nodes.ts';
import type { Migration } from './migration.ts';

/** In order: the schema's version is the number of migrations that ran. A migration that has landed never changes. */
export const migrations: readonly Migration[] = [
  initial,
  owner,
  firstForms,
  blindness,
  flapping,
  narrowKeys,
  schedules,
  runs,
  values,
  names,
  channels,
  routes,
  acknowledged,
  silences,
  needs,
  activity,
  statusPages,
  badges,
  nodes,
];
