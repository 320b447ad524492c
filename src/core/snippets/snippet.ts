/** What people paste to make a job check in. Whatever comes from outside is escaped for the language of the snippet. */
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
  /** The installed path of this program. */
  program: string;
  /** IANA name: the zone that cron on this host uses. */
  hostZone: string;
  /** Null if it has none; `unknown` if the server is too old for badges. */
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
  /** Null if the server is too old for badges. */
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
  /** Without a trailing newline; null if no such snippet is possible, and then a remark says why. */
  text: string | null;
  /** Sentences to show beside the snippet. */
  remarks: string[];
}

/** A placeholder for the job, to be replaced by whoever pastes the snippet. */
export const JOB = '/path/to/job';

/** Retries just long enough for a server that does not answer or is starting, because the job waits for it. */
export const CURL = 'curl -fsS -m 10 --retry 5 -o /dev/null';

/** The name as a one-line comment. */
export function commentOf(name: string): string {
  return `# ${printable(name)}`;
}

/** The text inside the double quotes of a shell. */
export function inShellQuotes(text: string): string {
  return text.replace(/[\\"$`]/g, '\\$&');
}

/** A name for files and objects, derived from the name of a snitch. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    // The dots of an umlaut do not end a word.
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? []).join('-').slice(0, 40).replace(/-$/, '') || 'job';
}
