/** `snitch dashboard`: finds the server, then loads the dashboard, which no other command has to wait for. */
import { addConnectionOptions, type Register, withExamples } from './command/command.ts';
import { type ConnectionFlags, findConnection } from './command/connection.ts';
import { installedProgram } from './command/own-program.ts';
import { type KnownServer, serversOf } from './command/servers.ts';
import { readCli } from './command/settings-files.ts';
import { describeFailure } from './failure/failure.ts';

interface DashboardFlags extends ConnectionFlags {
  readonly?: boolean;
}

export const register: Register = (program, finish) => {
  const dashboard = program
    .command('dashboard')
    .description('watch the snitches on the terminal, live; without a terminal, print them once')
    .option('--readonly', 'disable every key that changes anything')
    .action(async (flags: DashboardFlags) => finish(await openDashboard(flags)));
  addConnectionOptions(dashboard);
  withExamples(
    dashboard,
    'snitch dashboard',
    'snitch dashboard --readonly',
    'snitch dashboard | grep failed',
  );
};

async function openDashboard(flags: DashboardFlags): Promise<number> {
  const { url, apiKey, timeoutMs, serverName, isOneOfSeveral } = findConnection(flags);
  const { runDashboard } = await import('../tui/run.ts');
  const servers = isOneOfSeveral ? serversOf(readCli(process.env)).map(namedServer) : [];
  const readonly = flags.readonly === true;
  const program = installedProgram();
  return runDashboard({ url, apiKey, timeoutMs, serverName, servers, readonly, program });
}

/** A server without a key is shown all the same, with the reason why it cannot be asked. */
function namedServer({ name, url }: KnownServer) {
  try {
    const found = findConnection({ server: name });
    return { name, url: found.url, apiKey: found.apiKey, problem: null };
  } catch (error) {
    const [problem = ''] = describeFailure(error).lines;
    return { name, url, apiKey: null, problem };
  }
}
