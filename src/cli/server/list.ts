/** `snitch server list`: asks all servers at once, so one that hangs does not hold up the others. */
import { type Client, createClient } from '../../api/client.ts';
import { shellWord } from '../../text/shell-word.ts';
import { findConnection } from '../command/connection.ts';
import { parseDuration } from '../command/duration.ts';
import { defaultOf, type KnownServer, serversOf } from '../command/servers.ts';
import { type CliFile, readCli } from '../command/settings-files.ts';
import { describeFailure } from '../failure/failure.ts';
import { Output, type OutputFlags, say, type View } from '../output/output.ts';
import { exposedKeyFiles } from './exposed.ts';

export interface ListFlags extends OutputFlags {
  timeout: string;
}

type State = 'ok' | 'no answer' | 'no key' | 'refused' | 'faulty';

/** What is shown of a server. */
interface Seen {
  name: string;
  url: string;
  default: boolean;
  reachable: boolean;
  state: State;
  case: string | null;
  scope: string | null;
  version: string | null;
  error: string | null;
}

const VIEW: View<Seen> = {
  name: ({ name }) => name,
  id: ({ name }) => name,
  empty: '`snitch server add NAME URL` adds a server: none has a name yet',
  columns: [
    { header: 'NAME', cell: ({ name }) => name, shrinkTo: 10 },
    {
      header: 'STATE',
      cell: ({ state }) => state,
      paint: ({ state }) => (state === 'ok' ? 'green' : 'red'),
    },
    { header: 'DEFAULT', cell: (seen) => (seen.default ? 'default' : '') },
    { header: 'URL', cell: ({ url }) => url, shrinkTo: 16, optional: 'dear' },
    { header: 'CASE', cell: (seen) => seen.case ?? '', shrinkTo: 8, optional: true },
    { header: 'SCOPE', cell: ({ scope }) => scope ?? '', optional: true },
    { header: 'VERSION', cell: ({ version }) => version ?? '', optional: true },
  ],
};

export async function listServers(flags: ListFlags): Promise<void> {
  const cli = readCli(process.env);
  const timeoutMs = parseDuration(flags.timeout, '--timeout');
  const seen = await Promise.all(serversOf(cli).map((server) => look(cli, server, timeoutMs)));
  const output = new Output(flags);
  output.list(seen, VIEW);
  if (output.quiet) return;
  warnOfReaders(cli);
  if (output.format === 'json') return;
  for (const { name, error } of seen) if (error !== null) say(`${name}: ${error}`);
  const winner = ['SNITCH_URL', 'SNITCH_SERVER'].find((variable) => process.env[variable]);
  if (winner && seen.length > 0) say(`${winner} is set: its server is asked instead of the default`);
}

async function look(cli: CliFile, { name, url }: KnownServer, timeoutMs: number): Promise<Seen> {
  const own = { name, url, default: defaultOf(cli) === name };
  const unknown = { ...own, reachable: false, case: null, scope: null, version: null };
  try {
    const client = createClient({ ...findConnection({ server: name }), timeoutMs });
    const { case: its, scope, version } = await client.getStanding();
    return { ...own, reachable: true, state: 'ok', case: its.name, scope, version, error: null };
  } catch (error) {
    return { ...unknown, ...(await faultOf(error, url, timeoutMs)) };
  }
}

async function faultOf(
  error: unknown,
  url: string,
  timeoutMs: number,
): Promise<Pick<Seen, 'reachable' | 'state' | 'error' | 'scope'>> {
  const [text = ''] = describeFailure(error).lines;
  const { name, status } = error as { name?: string; status?: number };
  if (name === 'Unreachable') return { reachable: false, state: 'no answer', error: text, scope: null };
  if (name === 'AuthenticationError') {
    const reachable = await answers(createClient({ url, apiKey: '', timeoutMs }));
    return { reachable, state: reachable ? 'no key' : 'no answer', error: text, scope: null };
  }
  if (status === 401) return { reachable: true, state: 'refused', error: text, scope: null };
  // A key that is only for jobs may not read the case, and is fine.
  if (status === 403 && /check in by name/.test(text)) {
    return { reachable: true, state: 'ok', error: null, scope: 'provision' };
  }
  return {
    reachable: status !== undefined,
    state: status === 403 ? 'refused' : 'faulty',
    error: text,
    scope: null,
  };
}

async function answers(client: Client): Promise<boolean> {
  return client.probe('/healthz').then(
    () => true,
    () => false,
  );
}

/** Warns of keys in a file that every user can read. */
export function warnOfReaders(cli: CliFile): void {
  for (const path of exposedKeyFiles(cli))
    say(`every user of this host can read ${path}, which holds a secret: chmod 600 ${shellWord(path)}`);
}
