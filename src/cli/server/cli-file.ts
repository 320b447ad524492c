/** Changes `cli.yaml`, which people also edit: their comments and their order stay. */

import { closeSync, constants, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Document, isMap, parseDocument, YAMLMap } from 'yaml';
import { makePrivateDirectory } from '../../system/directory.ts';
import { lockFile } from '../../system/libc.ts';
import { type Owner, replacePrivateFile } from '../../system/private-file.ts';
import { LARGEST_SETTINGS, readWholeText } from '../../system/reading.ts';
import { type CliYaml, parseCliYaml, type Settings } from '../command/plain-yaml.ts';
import { type CliFile, cliPath, readCli } from '../command/settings-files.ts';
import { Failure } from '../failure/failure.ts';

/** How long another change may take, in milliseconds. */
const LONGEST_WAIT = 10_000;
const LOOK_EVERY = 25;

/**
 * Changes the file, or makes it. Of two changes at once, the second one sees what the first one did.
 *
 * @param change gets the present content, and may throw: then the file stays as it is
 * @returns the new content
 * @throws Failure if it cannot be written, or would be misread afterwards
 */
export async function changeCliFile(
  env: NodeJS.ProcessEnv,
  change: (document: Document, present: CliFile) => void,
): Promise<CliFile> {
  const path = realPath(cliPath(env));
  try {
    makePrivateDirectory(dirname(path));
    using _ = await lockDirectory(dirname(path));
    const present = readCli(env);
    if (present.isForbidden) throw new Failure(`this user may not read ${path}`);
    const document = documentIn(path);
    change(document, present);
    const text = textOf(document);
    assertUnderstood(path, document, text);
    await replacePrivateFile(path, text, ownerOf(path));
    return readCli(env);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof Failure || code === undefined) throw error;
    throw new Failure(
      `cannot write ${path}: ${code === 'EACCES' ? 'permission denied' : message}; it was not changed`,
    );
  }
}

/** People keep such files elsewhere, and link to them. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}

async function lockDirectory(path: string): Promise<Disposable> {
  const fd = openSync(path, constants.O_RDONLY);
  const until = performance.now() + LONGEST_WAIT;
  while (!lockFile(fd)) {
    if (performance.now() > until) {
      closeSync(fd);
      throw new Failure(`another program holds ${path}: nothing was changed; try it again`);
    }
    await delay(LOOK_EVERY);
  }
  return { [Symbol.dispose]: () => closeSync(fd) };
}

/** With this schema every value is plain text, as it is for the commands that read the file. */
function documentIn(path: string): Document {
  const text = statSync(path, { throwIfNoEntry: false }) ? readWholeText(path, LARGEST_SETTINGS) : '';
  const document: Document = parseDocument(text, {
    schema: 'failsafe',
    prettyErrors: false,
    logLevel: 'silent',
  });
  const [fault] = document.errors;
  // The message of the parser may quote a key.
  if (fault) throw new Failure(`${path} is not valid YAML, and was not changed`);
  if (!isMap(document.contents)) document.contents = new YAMLMap() as never;
  return document;
}

/** An empty map would be written as `{}`, which the commands that read the file do not understand. */
function textOf(document: Document): string {
  if (isMap(document.contents) && document.contents.items.length === 0) {
    return [document.commentBefore, document.comment]
      .map((text) => (text ? `#${text.replaceAll('\n', '\n#')}\n` : ''))
      .join('');
  }
  return document.toString({ lineWidth: 0 });
}

/** Root can change somebody else's file without taking it away from them. */
function ownerOf(path: string): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
  return { uid, gid };
}

/** @throws Failure if commands would not read exactly what was meant */
function assertUnderstood(path: string, document: Document, text: string): void {
  const meant = (document.toJS() ?? {}) as Record<string, unknown>;
  const { servers = {}, ...values } = meant as { servers?: Record<string, Settings> | string };
  const wanted = { values: filled(values), servers: typeof servers === 'string' ? {} : servers };
  try {
    if (JSON.stringify(plain(parseCliYaml(text))) === JSON.stringify(plainOf(wanted))) return;
  } catch {
    // A file that cannot be parsed is not understood either.
  }
  throw new Failure(`${path} is written in a way that this program does not change safely: edit it by hand`);
}

function plain({ values, servers }: CliYaml): unknown {
  return plainOf({ values, servers: Object.fromEntries(servers) });
}

function plainOf({ values, servers }: { values: Settings; servers: Record<string, Settings> }): unknown {
  return [values, Object.entries(servers).map(([name, settings]) => [name, filled(settings ?? {})])];
}

/** A name without a value says nothing. */
function filled(values: Record<string, unknown>): Settings {
  const entries = Object.entries(values).map(([name, value]) => [name, String(value ?? '')] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}
