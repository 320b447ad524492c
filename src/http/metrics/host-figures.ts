/** What `/metrics` shows about the daemon's host: looked up at each scrape, and left out if the system does not say. */
import type { Connections } from '../../store/node.ts';
import { SECOND } from '../../text/durations.ts';
import { counterHead, type Family, gaugeHead } from './series-text.ts';

/** What the daemon finds out about its work and its host. */
export interface HostFigures {
  /** How long ago the last sweep succeeded, in milliseconds. */
  sweptAgo: number;
  /** The file system of the data directory, in bytes; null if the system does not say. */
  disk: { free: number; size: number } | null;
  /** In bytes; null if the database is not a file on this host. */
  databaseSize: number | null;
  /**
   * How far the clock of this host is ahead of the database's, in milliseconds; null if no other node shares the
   * database.
   */
  clockAheadMs: number | null;
  /** Connections to the database; null if that is a file on this host, or not open yet. */
  connections: Connections | null;
}

interface HostFamily extends Family {
  type?: 'counter';
  of: (host: HostFigures, now: number) => number | Readonly<Record<string, number>> | null;
}

export const HOST_FAMILIES: readonly HostFamily[] = [
  {
    name: 'snitch_last_sweep_timestamp_seconds',
    help: 'Time of the last sweep for missed deadlines, in seconds since the Unix epoch.',
    of: ({ sweptAgo }, now) => (now - sweptAgo) / SECOND,
  },
  {
    name: 'snitch_disk_free_bytes',
    help: 'Bytes that the daemon can still write to the file system of its data directory.',
    of: ({ disk }) => disk?.free ?? null,
  },
  {
    name: 'snitch_disk_size_bytes',
    help: 'Size in bytes of the file system of the data directory.',
    of: ({ disk }) => disk?.size ?? null,
  },
  {
    name: 'snitch_database_bytes',
    help: 'Size in bytes of the database with its log.',
    of: ({ databaseSize }) => databaseSize,
  },
  {
    name: 'snitch_node_clock_ahead_seconds',
    help: 'Seconds by which the clock of this host is ahead of the clock of the database, which the node uses; only on PostgreSQL.',
    of: ({ clockAheadMs }) => (clockAheadMs === null ? null : clockAheadMs / SECOND),
  },
  {
    name: 'snitch_database_connections',
    help: 'Number of connections to PostgreSQL for calls, by state: in_use or idle.',
    of: ({ connections }) =>
      connections && { 'state="in_use"': connections.inUse, 'state="idle"': connections.idle },
  },
  {
    name: 'snitch_database_connections_max',
    help: 'Largest number of connections to PostgreSQL for calls.',
    of: ({ connections }) => connections?.size ?? null,
  },
  {
    name: 'snitch_database_connection_waiting',
    help: 'Number of calls that are waiting for a connection to PostgreSQL.',
    of: ({ connections }) => connections?.waiting ?? null,
  },
  {
    name: 'snitch_database_connection_waits_total',
    help: 'Total number of calls that had to wait for a connection to PostgreSQL.',
    type: 'counter',
    of: ({ connections }) => connections?.waits ?? null,
  },
  {
    name: 'snitch_database_connection_wait_seconds_total',
    help: 'Total time in seconds that calls waited for a connection to PostgreSQL.',
    type: 'counter',
    of: ({ connections }) => (connections ? connections.waitedMs / SECOND : null),
  },
];

/** @param now in milliseconds since the epoch */
export function hostText(host: HostFigures, now: number): string {
  const texts = HOST_FAMILIES.map((family) => {
    const value = family.of(host, now);
    if (value === null) return '';
    const head = family.type === 'counter' ? counterHead(family) : gaugeHead(family);
    if (typeof value === 'number') return `${head}${family.name} ${value}\n`;
    const lines = Object.entries(value).map(([labels, one]) => `${family.name}{${labels}} ${one}\n`);
    return `${head}${lines.join('')}`;
  });
  return texts.join('');
}
