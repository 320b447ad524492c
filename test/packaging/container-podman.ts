/** Debian's buildah, podman and runc, with separate storage that is removed after the test. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeService } from './compose-service.ts';
import type { Engine, Run } from './container-engine.ts';

const CONTAINERFILE = join(import.meta.dirname, '../../packaging/Containerfile');
/** The name from the documents, so that their lines can be pasted. */
const IMAGE = 'snitch';

/** Seconds after which a container ends on its own if the test that started it was killed. */
const LIMIT_S = '1200';

/** Builds the image. Null where this host does not let podman run it. */
export function podman(work: string): Engine | null {
  if (process.getuid?.() !== 0 || spawnSync('podman', ['--version']).error) return null;
  const env = { ...process.env, ...settings(work) };
  const call = (program: string, ...args: string[]) =>
    spawnSync(program, args, { encoding: 'utf8', env, timeout: 120_000 });
  if (call('buildah', 'from', '--name', 'probe', 'scratch').status !== 0) {
    console.log('NOTE: buildah cannot work here');
    return null;
  }
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const built = call(
    'buildah',
    ...['build', '--isolation', 'chroot', '--format', 'docker', '--build-arg', `TARGETARCH=${architecture}`],
    ...['-q', '-t', IMAGE, '-f', CONTAINERFILE, join(work, 'context')],
  );
  if (built.status !== 0) throw new Error(`the image cannot be built: ${built.stderr || built.error}`);
  const flags = ['run', '--rm', '--no-healthcheck', '--timeout', LIMIT_S];
  const tried = call('podman', ...flags, '-p', '127.0.0.1::7676', IMAGE, 'version');
  if (tried.status !== 0) {
    console.log(`NOTE: podman cannot run a container here: ${tried.stderr.trim()}`);
    cleanUp(env);
    return null;
  }
  return {
    name: `podman, ${call('podman', 'info', '--format', '{{.Host.OCIRuntime.Name}}').stdout.trim()}`,
    env,
    command: (name, run) => [
      ...['podman', ...flags, '--name', name, '-p', '127.0.0.1::7676', ...hardening()],
      ...mountsOf(run),
      ...Object.entries(run.env ?? {}).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
      IMAGE,
      ...(run.args ?? []),
    ],
    pidOf: (name) => Number(call('podman', 'inspect', '--format', '{{.State.Pid}}', name).stdout) || null,
    exec: (_pid, name, args) => ['podman', 'exec', name, 'snitch', ...args],
    addressOf: (name) => `http://${call('podman', 'port', name, '7676').stdout.trim()}`,
    paste: (line) =>
      spawnSync('bash', ['-c', line.replace('127.0.0.1:7676:7676', '127.0.0.1::7676')], {
        encoding: 'utf8',
        env,
        timeout: 120_000,
      }),
    remove: () => cleanUp(env),
  };
}

/** As packaging/compose.yaml says. */
function hardening(): string[] {
  const { user, read_only, cap_drop, security_opt } = composeService();
  return [
    ...['--user', user],
    // Unlike docker, podman adds file systems in memory, which the image must do without.
    ...(read_only ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...cap_drop.map((name) => `--cap-drop=${name}`),
    ...security_opt.map((option) => `--security-opt=${option.replace(':true', '')}`),
  ];
}

function mountsOf({ volume, mounts = {} }: Run): string[] {
  const given = Object.entries(mounts).map(([target, source]) => `${source}:${target}`);
  return [`${volume}:/var/lib/snitch`, ...given].flatMap((mount) => ['-v', mount]);
}

/** This host may allow less than podman asks for: a container gets no more open files than the test itself has. */
function settings(work: string): Record<string, string> {
  const storage = join(work, 'storage.conf');
  const containers = join(work, 'containers.conf');
  for (const name of ['graph', 'run', 'tmp']) mkdirSync(join(work, name));
  writeFileSync(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${work}/graph"\nrunroot = "${work}/run"\n`,
  );
  const files = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '1024';
  const runtime = spawnSync('runc', ['--version']).error ? '' : 'runtime = "runc"\n';
  writeFileSync(
    containers,
    `[containers]\ndefault_ulimits = ["nofile=${files}:${files}", "nproc=1000:1000"]\n[engine]\n${runtime}events_logger = "file"\ncgroup_manager = "cgroupfs"\ntmp_dir = "${work}/tmp"\n`,
  );
  return { CONTAINERS_STORAGE_CONF: storage, CONTAINERS_CONF: containers };
}

function cleanUp(env: NodeJS.ProcessEnv): void {
  for (const args of [
    ['rm', '--all', '--force', '--time', '0'],
    ['volume', 'rm', '--all', '--force'],
  ])
    spawnSync('podman', args, { env });
  for (const args of [
    ['rm', '--all'],
    ['rmi', '--all', '--force'],
  ])
    execFileSync('buildah', args, { env, stdio: 'ignore' });
}
