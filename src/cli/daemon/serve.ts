/** `snitch serve`: the daemon in the foreground, with the signals that a service manager sends. */
import type { Daemon } from '../../daemon/daemon.ts';
import type { Demo } from '../../demo/demo.ts';
import type { Logger } from '../../log/logger.ts';
import { giveBackFreeMemory, startFrugally } from '../../system/memory.ts';
import { adoptOrphans } from '../../system/process-one.ts';
import type { ServiceManager } from '../../system/service-manager.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { reportFailure } from '../failure/failure.ts';
import { VERSION } from '../version/version.ts';

/** systemd kills the process after its own limit. Ending earlier leaves the reason in the log. Milliseconds. */
const STOP_WITHIN = 10_000;

/** Ctrl-C in `npm start` arrives twice, from the terminal and from npm, and must count as one signal. Milliseconds. */
const SAME_WISH = 500;

export interface ServeFlags {
  config?: string;
  /** Runs on an invented store of its own. */
  demo?: boolean;
}

/** @returns the exit code, once the daemon has ended */
export async function serve({ config: file, demo: isDemo = false }: ServeFlags): Promise<number> {
  // Node would give the process the name of its main thread.
  process.title = 'snitch serve';
  adoptOrphans();
  const started = startFrugally();
  const { loadConfig } = await import('../../config/config.ts');
  const { createLogger } = await import('../../log/logger.ts');
  const read = () => loadConfig({ file, env: process.env, terminal: process.stdout.isTTY === true });
  const real = await read().catch(reportFailure);
  if (typeof real === 'number') return real;
  const demo = isDemo ? await startDemo() : null;
  const load = async () => (demo ? demo.settings(await read()) : read());
  const config = demo ? demo.settings(real) : real;
  const logger = createLogger(config.log);
  exitOnDefects(logger);
  let daemon: Daemon | null = null;
  const stopping = stopRequested(logger, () => daemon?.isSaving() ?? false);
  const { startDaemon } = await import('../../daemon/daemon.ts');
  const { serviceManager } = await import('../../system/service-manager.ts');
  const manager = serviceManager(process.env);
  const stopped = new AbortController();
  void stopping.then(() => stopped.abort());
  const options = { version: VERSION, manager, checkWith: ownCheck(), stopped: stopped.signal };
  const starting = startDaemon(config, logger, options);
  onReloadSignal(async () => {
    const daemon = await starting;
    manager.reloading();
    // A reload that fails leaves the daemon as it was, which is ready.
    await load().then(daemon.reload).finally(manager.ready);
  }, logger);
  try {
    daemon = await starting;
    started();
    giveBackFreeMemory();
    demo?.begin(daemon.url);
  } catch (error) {
    return explainNoStart(error, logger);
  }
  return watch(daemon, stopping, { logger, manager }).catch((error) => {
    logger.fatal({ err: error }, 'the daemon could not stop in order');
    return EXIT.error;
  });
}

/** The data of the demo is deleted with the process, however that ends. */
async function startDemo(): Promise<Demo> {
  const { prepareDemo } = await import('../../demo/demo.ts');
  const demo = await prepareDemo(Date.now);
  process.once('exit', demo.end);
  process.stderr.write(
    `This is a demo: its data is invented, and gone when it ends. Look at it from another terminal:\n  SNITCH_DATA_DIR=${demo.dataDir} snitch dashboard\n`,
  );
  return demo;
}

/** This program again, from the file it was started from, so that the database is checked by the same version. */
function ownCheck(): string[] {
  const isExecutable = process.getBuiltinModule('node:sea').isSea();
  const options = isExecutable ? [] : ['--disable-warning=ExperimentalWarning', process.argv[1] ?? ''];
  return [process.execPath, ...options, '__check-database'];
}

async function watch(
  daemon: Daemon,
  stopping: Promise<void>,
  { logger, manager }: { logger: Logger; manager: ServiceManager },
): Promise<number> {
  const stopped = stopping.then(() => daemon.stop());
  const failure = await Promise.race([stopped, daemon.failed]);
  if (!failure) return EXIT.ok;
  if (failure.name === 'DatabaseDamaged') {
    manager.status(failure.message);
    logger.fatal({ err: failure }, failure.message);
  } else {
    logger.fatal({ err: failure }, 'the daemon cannot go on and must be started again');
  }
  return EXIT.error;
}

/**
 * A daemon that cannot start says why once, in words, where a person or a script looks: on stderr, which under systemd
 * is the journal. If the program itself is at fault, the log also has the stack trace.
 */
async function explainNoStart(error: unknown, logger: Logger): Promise<number> {
  const { OpeningStopped } = await import('../../store/sqlite/parts.ts');
  if (error instanceof OpeningStopped) {
    logger.info(error.message);
    return EXIT.ok;
  }
  const { DataDirLocked } = await import('../../store/sqlite/lock.ts');
  reportFailure(error);
  if (isDefect(error)) logger.fatal({ err: error }, 'a defect of the program kept the daemon from starting');
  return error instanceof DataDirLocked ? EXIT.locked : EXIT.error;
}

/** Errors of the language itself mean a fault in the code. What we or the system refuse has other names. */
function isDefect(error: unknown): boolean {
  return !(error instanceof Error) || /^(?:Type|Range|Reference|Syntax|URI|Assertion)Error$/.test(error.name);
}

/** After a defect the state of the program cannot be trusted. A restart reads what is on the disk. */
function exitOnDefects(logger: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    exitAtOnce(logger, { err: error, origin }, 'a defect of the program ended the daemon');
  });
}

function exitAtOnce(logger: Logger, details: object, message: string): never {
  try {
    logger.fatal(details, message);
  } finally {
    process.exit(EXIT.error);
  }
}

/** Resolves at the first signal to stop. A second signal, or a stop that takes too long, ends the process at once. */
function stopRequested(logger: Logger, isSaving: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const stop = (signal: NodeJS.Signals) => {
      const now = performance.now();
      if (askedAt !== null) {
        if (now - askedAt >= SAME_WISH)
          exitAtOnce(logger, { signal }, 'ended by a second signal before it had stopped');
        return;
      }
      askedAt = now;
      logger.info({ signal }, 'stopping');
      const giveUp = () => {
        if (isSaving()) setTimeout(giveUp, SAME_WISH);
        else exitAtOnce(logger, {}, `did not stop within ${STOP_WITHIN / 1000} s`);
      };
      setTimeout(giveUp, STOP_WITHIN);
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}

/** One reload at a time, each with the file as it is by then. One that fails changes nothing. */
function onReloadSignal(reload: () => Promise<void>, logger: Logger): void {
  let last = Promise.resolve();
  const tryReload = () =>
    reload().catch((error: Error & { problems?: readonly string[] }) => {
      const details = error.problems ? { problems: error.problems } : { err: error };
      logger.error(details, 'the configuration was not read again; everything stays as it was');
    });
  process.on('SIGHUP', () => {
    last = last.then(tryReload);
  });
}
