/** All cases, in the order in which they run: those that need the database as it was made come first. */
import type { Case } from './case.ts';
import { firstOfPeriod } from './first-of-period.ts';
import { hot } from './hot.ts';
import { list } from './list.ts';
import { metrics } from './metrics.ts';
import { midnight } from './midnight.ts';
import { resident, size } from './resident.ts';
import { slowDisk } from './slow-disk.ts';
import { start } from './start.ts';
import { statusPage } from './status-page.ts';
import { storm } from './storm.ts';
import { sweep } from './sweep.ts';

export const cases: readonly Case[] = [
  hot,
  size,
  resident,
  list,
  firstOfPeriod,
  start,
  sweep,
  midnight,
  storm,
  slowDisk,
  metrics,
  statusPage,
];
