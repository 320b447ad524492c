/** The jobs of an invented company, with enough of every kind to show what the program can do. */
import type { Interval } from '../core/interval.ts';
import type { AlertType } from '../core/snitch.ts';
import { MINUTE, SECOND } from '../text/durations.ts';

export interface DemoJob {
  name: string;
  interval: Interval;
  tags: readonly string[];
  notes?: string;
  alertType?: AlertType;
  /** When in its period it usually runs, as a fraction from 0 to 1. */
  at: number;
  /** How long a run usually takes, in milliseconds; without it the job reports only the end of a run. */
  takes?: number;
  /** Periods in which it did not check in, counted back from the present one, which is 0. */
  missed?: readonly number[];
  /** Periods in which it reported an error. */
  errors?: readonly number[];
  /** The name of an earlier job in the list that it needs: while that one is not well, this one raises no alert. */
  needs?: string;
  /** The note with which somebody acknowledged its alarm. */
  acknowledged?: string;
  /** The note of a silence that covers it. */
  silenced?: string;
  /** What it reports when it succeeds, and when it fails. */
  message?: string;
  complaint?: string;
  output?: string;
  /** Somebody paused it a period ago. */
  isPaused?: true;
  /** It has never run yet. */
  isNew?: true;
}

export const FLEET: readonly DemoJob[] = [
  {
    name: 'nightly-backup',
    interval: 'daily',
    tags: ['db', 'prod'],
    notes: 'pg_dump of all databases to the off-site store.\nRunbook: wiki/backup',
    at: 0.09,
    takes: 22 * MINUTE,
    missed: [0, 1],
    message: '41.2 GB in 7 databases',
  },
  {
    name: 'backup-verify',
    interval: 'daily',
    tags: ['db'],
    at: 0.2,
    takes: 6 * MINUTE,
    missed: [0, 1],
    needs: 'nightly-backup',
  },
  {
    name: 'cert-renewal',
    interval: 'weekly',
    tags: ['web', 'tls'],
    at: 0.12,
    takes: 40 * SECOND,
    missed: [0, 1, 6],
  },
  {
    name: 'etl-orders',
    interval: 'hourly',
    tags: ['data', 'prod'],
    at: 0.2,
    takes: 4 * MINUTE,
    errors: [0, 1, 9],
    message: '18,204 rows',
    complaint: 'relation "orders_stage" does not exist',
    acknowledged: 'I am making the table anew',
    output:
      'extract: 18204 rows in 31.2 s\ntransform: ok\nload: ERROR: relation "orders_stage" does not exist\n  at line 1: INSERT INTO orders_stage …\nrolled back',
  },
  {
    name: 'mail-queue',
    interval: '5_minute',
    tags: ['mail', 'prod'],
    at: 0.1,
    errors: [23],
    complaint: '412 mails deferred',
  },
  { name: 'disk-space', interval: '15_minute', tags: ['hosts'], at: 0.05, message: '/ 61 %, /srv 83 %' },
  { name: 'replica-lag', interval: '1_minute', tags: ['db', 'prod'], at: 0.3, message: 'lag 0.4 s' },
  { name: 'load-balancer-probe', interval: '1_minute', tags: ['web', 'prod'], at: 0.6 },
  {
    name: 'search-reindex',
    interval: '6_hour',
    tags: ['search'],
    at: 0.3,
    takes: 31 * MINUTE,
    alertType: 'smart',
    silenced: 'moving to the new disks',
  },
  {
    name: 'invoice-run',
    interval: 'monthly',
    tags: ['billing'],
    at: 0.02,
    takes: 9 * MINUTE,
    message: '2,318 invoices',
  },
  {
    name: 'billing-export',
    interval: 'daily',
    tags: ['billing', 'prod'],
    at: 0.25,
    takes: 70 * SECOND,
    missed: [12],
  },
  { name: 'log-rotate', interval: 'daily', tags: ['hosts'], at: 0.01, takes: 8 * SECOND },
  {
    name: 'dns-zone-sync',
    interval: '30_minute',
    tags: ['net'],
    at: 0.15,
    takes: 3 * SECOND,
    missed: [17, 18],
  },
  {
    name: 'warehouse-snapshot',
    interval: '12_hour',
    tags: ['data'],
    at: 0.4,
    takes: 47 * MINUTE,
    isPaused: true,
  },
  { name: 'tape-archive', interval: 'weekly', tags: ['db'], at: 0.5, takes: 55 * MINUTE, isPaused: true },
  {
    name: 'fraud-model-training',
    interval: 'daily',
    tags: ['data'],
    at: 0.15,
    takes: 58 * MINUTE,
    alertType: 'smart',
  },
  { name: 'session-cleanup', interval: 'hourly', tags: ['web'], at: 0.5, takes: 12 * SECOND },
  { name: 'metrics-rollup', interval: '10_minute', tags: ['hosts'], at: 0.2, takes: 20 * SECOND },
  { name: 'newsletter', interval: 'weekly', tags: ['mail'], at: 0.3, takes: 14 * MINUTE },
  {
    name: 'ldap-sync',
    interval: '2_hour',
    tags: ['net'],
    at: 0.1,
    takes: 25 * SECOND,
    errors: [5],
    complaint: 'bind refused',
  },
  { name: '夜間バッチ-東京', interval: 'daily', tags: ['prod', 'tokyo'], at: 0.05, takes: 16 * MINUTE },
  {
    name: 'restore-drill',
    interval: 'monthly',
    tags: ['db'],
    at: 0.1,
    isNew: true,
    notes: 'First drill is due next month.',
  },
  { name: 'gpu-node-health', interval: '5_minute', tags: ['hosts', 'data'], at: 0.4, isNew: true },
];
