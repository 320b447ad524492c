/** What `/metrics` tells of the daemon's host: looked up at each scrape, and left out where the system does not tell. */
import { type Family, gaugeHead, SECOND } from './series-text.ts';

/** What the daemon finds out about its work and its host. */
export interface HostFigures {
  /** How long ago the last sweep succeeded, in milliseconds. */
  sweptAgo: number;
  /** Of the file system of the data directory, in bytes; null where the system does not tell. */
  disk: { free: number; size: number } | null;
  /** In bytes; null where the database is no file of this host. */
  databaseSize: number | null;
  /** Of the clock of this host, before that of the database, in milliseconds; null where no node shares it. */
  clockAheadMs: number | null;
}

interface HostFamily extends Family {
  of: (host: HostFigures, now: number) => number | null;
}

export const HOST_FAMILIES: readonly HostFamily[] = [
  {
    name: 'snitch_last_sweep_timestamp_seconds',
    help: 'Time at which deadlines were last looked at, in seconds since the Unix epoch.',
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
    help: 'Seconds by which the clock of this host is ahead of that of the database, by which the node goes; only on PostgreSQL.',
    of: ({ clockAheadMs }) => (clockAheadMs === null ? null : clockAheadMs / SECOND),
  },
];

/** @param now in milliseconds since the epoch */
export function hostText(host: HostFigures, now: number): string {
  const texts = HOST_FAMILIES.map((family) => {
    const value = family.of(host, now);
    return value === null ? '' : `${gaugeHead(family)}${family.name} ${value}\n`;
  });
  return texts.join('');
}
