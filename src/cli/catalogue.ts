/**
 * All commands; the help of the program is generated from this list. Most modules are in the main bundle, because one
 * file loads faster than several. Only heavy ones are loaded when they are called.
 */
import { register as ofCase } from './administration/case.ts';
import { register as key } from './administration/key.ts';
import { register as maintenance } from './administration/maintenance.ts';
import { register as deliveries } from './alerts/deliveries.ts';
import { register as webhook } from './alerts/webhook.ts';
import { register as checkIn } from './check-in.ts';
import type { Register } from './command/command.ts';
import { register as completion } from './completion.ts';
import { register as backup } from './daemon/backup.ts';
import { register as daemon } from './daemon/commands.ts';
import { register as restore } from './daemon/restore.ts';
import { register as doctor } from './doctor/doctor.ts';
import { register as exec } from './exec/exec.ts';
import { register as acknowledge } from './snitches/acknowledge.ts';
import { register as deletion } from './snitches/delete.ts';
import { register as list } from './snitches/list.ts';
import { register as look } from './snitches/look.ts';
import { register as pause } from './snitches/pause.ts';
import { register as schedule } from './snitches/schedule.ts';
import { register as write } from './snitches/write.ts';
import { register as spool } from './spool/spool.ts';

export interface Entry {
  name: string;
  /** A shorter name for it. */
  alias?: string;
  /** What the command does, in a few words without a full stop. */
  summary: string;
  /** Loads the module that adds the command to the program, perhaps together with related ones. */
  load(): Promise<{ register: Register }>;
}

/** Commands for one task of a user, grouped as the help shows them. */
export interface Task {
  title: string;
  entries: readonly Entry[];
}

/** For modules that are loaded already. */
function here(register: Register): Entry['load'] {
  return async () => ({ register });
}

const silence: Entry['load'] = () => import('./snitches/silence.ts');

export const TASKS: readonly Task[] = [
  {
    title: 'Look',
    entries: [
      { name: 'list', summary: 'the snitches and their status', load: here(list) },
      {
        name: 'dashboard',
        summary: 'watch them live, full screen',
        load: () => import('./dashboard.ts'),
      },
      { name: 'show', summary: 'everything about one snitch', load: here(look) },
      { name: 'history', summary: 'its check-ins', load: here(look) },
      { name: 'explain', summary: 'its deadline and next alert, in words', load: here(look) },
      { name: 'alerts', summary: 'the alerts, and whether they were delivered', load: here(deliveries) },
      {
        name: 'deliveries',
        summary: 'what was sent to whom, and what failed; retry it',
        load: here(deliveries),
      },
    ],
  },
  {
    title: 'Quieten',
    entries: [
      {
        name: 'acknowledge',
        alias: 'ack',
        summary: 'say that you have seen an alarm',
        load: here(acknowledge),
      },
      { name: 'silence', summary: 'raise no alarms during planned work', load: silence },
      { name: 'silences', summary: 'what is silenced, now and later', load: silence },
      { name: 'pause', summary: 'stop watching snitches, until they check in again', load: here(pause) },
      { name: 'unpause', summary: 'watch them again', load: here(pause) },
    ],
  },
  {
    title: 'Change',
    entries: [
      { name: 'create', summary: 'create a snitch', load: here(write) },
      { name: 'edit', summary: 'change a snitch', load: here(write) },
      {
        name: 'suggest',
        summary: 'a schedule and limits that fit the past runs of its job',
        load: () => import('./snitches/suggest.ts'),
      },
      { name: 'schedule', summary: 'when a cron or OnCalendar expression is due', load: here(schedule) },
      { name: 'tag', summary: 'add or remove tags', load: here(write) },
      { name: 'delete', summary: 'delete snitches', load: here(deletion) },
    ],
  },
  {
    title: 'As a file',
    entries: [
      {
        name: 'apply',
        summary: 'make the snitches match a file',
        load: () => import('./file/apply.ts'),
      },
      { name: 'diff', summary: 'what an apply would change', load: () => import('./file/apply.ts') },
      { name: 'export', summary: 'print the case as such a file', load: () => import('./file/apply.ts') },
    ],
  },
  {
    title: 'Move in',
    entries: [
      {
        name: 'setup',
        summary: 'the first steps: who gets alerts, a test, a first snitch',
        load: () => import('./setup/setup.ts'),
      },
      {
        name: 'discover',
        summary: 'find the jobs on this host',
        load: () => import('./discover/discover.ts'),
      },
      {
        name: 'import',
        summary: 'bring snitches over from another service',
        load: () => import('./import/import.ts'),
      },
    ],
  },
  {
    title: 'In jobs',
    entries: [
      {
        name: 'check-in',
        summary: 'say that a job ran, or how it failed',
        load: here(checkIn),
      },
      {
        name: 'open',
        summary: 'what to paste into a crontab, a unit, a script',
        load: () => import('./open/open.ts'),
      },
      { name: 'exec', summary: 'run a job, and check in when it starts and ends', load: here(exec) },
      { name: 'spool', summary: 'check-ins that wait for the server', load: here(spool) },
    ],
  },
  {
    title: 'Show others',
    entries: [
      {
        name: 'status-page',
        summary: 'a page for others: what works, and what does not',
        load: () => import('./administration/status-page.ts'),
      },
      {
        name: 'badge',
        summary: 'pictures for other pages that show how snitches are doing',
        load: () => import('./open/badge.ts'),
      },
      {
        name: 'metrics',
        summary: 'the status of each snitch, for Prometheus',
        load: () => import('./administration/metrics.ts'),
      },
    ],
  },
  {
    title: 'Administer',
    entries: [
      { name: 'case', summary: 'the case of your key; with an admin key, all cases', load: here(ofCase) },
      { name: 'member', summary: 'who gets alerts by email', load: here(ofCase) },
      {
        name: 'channel',
        summary: 'services that alerts are sent to',
        load: () => import('./channels/channel.ts'),
      },
      { name: 'webhook', summary: 'where alerts are posted to', load: here(webhook) },
      { name: 'key', summary: 'API keys', load: here(key) },
      {
        name: 'server',
        summary: 'the servers that you work with, by name',
        load: () => import('./server/server.ts'),
      },
      { name: 'log', summary: 'who changed what', load: () => import('./snitches/log.ts') },
      { name: 'maintenance', summary: 'close the API for a while', load: here(maintenance) },
    ],
  },
  {
    title: 'Run the daemon',
    entries: [
      { name: 'serve', summary: 'run the daemon', load: here(daemon) },
      { name: 'config', summary: 'check or show the configuration of the daemon', load: here(daemon) },
      { name: 'health', summary: 'whether the daemon is working, by exit code', load: here(daemon) },
      {
        name: 'doctor',
        summary: 'look for anything that would keep an alert from being sent',
        load: here(doctor),
      },
      { name: 'backup', summary: 'copy the database while the daemon keeps running', load: here(backup) },
      { name: 'restore', summary: 'replace the database with a backup', load: here(restore) },
      {
        name: 'move',
        summary: 'copy all data from SQLite to PostgreSQL, or back',
        load: () => import('./daemon/move.ts'),
      },
    ],
  },
  {
    title: 'More',
    entries: [
      { name: 'completion', summary: 'completion for bash, zsh and fish', load: here(completion) },
      { name: 'version', summary: 'print the version', load: here(daemon) },
    ],
  },
];

export const ENTRIES: readonly Entry[] = TASKS.flatMap(({ entries }) => entries);

export function findEntry(name: string): Entry | undefined {
  return ENTRIES.find((entry) => entry.name === name || entry.alias === name);
}
