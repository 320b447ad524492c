/** What people paste to make a job check in. Whatever comes from outside is escaped for the language that it stands in. */
import { printable } from '../../text/printable.ts';
import type { ScheduleRule } from '../schedule/schedule.ts';

/** The kinds, as `--for` takes them. */
export const SNIPPET_KINDS = [
  'crontab',
  'curl',
  'systemd',
  'python',
  'powershell',
  'github-actions',
  'kubernetes',
  'badge',
] as const;

export type SnippetKind = (typeof SNIPPET_KINDS)[number];

export const SNIPPET_TITLES: Readonly<Record<SnippetKind, string>> = {
  crontab: 'Crontab',
  curl: 'Shell script with curl',
  systemd: 'Drop-in for a service of systemd',
  python: 'Python, standard library alone',
  powershell: 'PowerShell, 5.1 and later',
  'github-actions': 'GitHub Actions',
  kubernetes: 'Kubernetes CronJob',
  badge: 'Badge, in Markdown',
};

/** What a snippet is made of. */
export interface SnippetSubject {
  name: string;
  /** The check-in address. */
  url: string;
  interval: string;
  schedule: ScheduleRule | null;
  /** IANA name: the zone of the schedule. */
  timezone: string;
  /** The path of this program where it is installed. */
  program: string;
  /** IANA name: what cron on this host goes by. */
  hostZone: string;
  /** Null where it has none; `unknown` where the server is too old for badges. */
  badge: 'unknown' | { url: string; label: string | null; public_name: string | null } | null;
}

/** A snitch as the API shows it. */
interface ShownSnitch {
  token: string;
  name: string;
  check_in_url: string;
  interval: string;
  schedule?: ScheduleRule | null | undefined;
  timezone?: string | null | undefined;
}

interface Around {
  /** IANA name: that of the case. */
  caseZone: string;
  program: string;
  hostZone: string;
  /** Null where the server is too old for badges. */
  badges:
    | readonly { token: string | null; url: string; label: string | null; public_name: string | null }[]
    | null;
}

export function subjectOf(
  snitch: ShownSnitch,
  { caseZone, program, hostZone, badges }: Around,
): SnippetSubject {
  const { token, name, check_in_url: url, interval, schedule = null, timezone = null } = snitch;
  const badge = badges === null ? 'unknown' : (badges.find((one) => one.token === token) ?? null);
  return { name, url, interval, schedule, timezone: timezone ?? caseZone, program, hostZone, badge };
}

export interface Snippet {
  kind: SnippetKind;
  /** Without a newline at its end; null where there can be none, and a remark says why. */
  text: string | null;
  /** Sentences that are no part of it. */
  remarks: string[];
}

/** Stands for the job itself: whoever pastes it puts their own there. */
export const JOB = '/path/to/job';

/** Only what a server without an answer, or one that is starting, needs; not for ever, because the job waits for it. */
export const CURL = 'curl -fsS -m 10 --retry 5 -o /dev/null';

/** The name in a comment that ends with its line. */
export function commentOf(name: string): string {
  return `# ${printable(name)}`;
}

/** The text inside the double quotes of a shell. */
export function inShellQuotes(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&');
}

/** What files and objects may be called after the name of a snitch. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    // The dots of an umlaut are no end of a word.
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, 40).replace(/-$/, '') || 'job';
}
