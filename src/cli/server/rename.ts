/** `snitch server rename`. */
import { type Document, isMap, isScalar, YAMLMap } from 'yaml';
import { problemOfName, UNNAMED } from '../command/plain-yaml.ts';
import { defaultOf, describeUnknown, sameServer, serversOf } from '../command/servers.ts';
import { readCli } from '../command/settings-files.ts';
import { Failure, NotFoundError, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { say } from '../output/output.ts';
import { assertNew, countKept, OWN_LINES, tellDefault } from './change.ts';
import { changeCliFile } from './cli-file.ts';
import { warnOfReaders } from './list.ts';

/** Its lines and their comments stay in their place. Check-ins that wait in the spool find it by its address. */
export async function renameServer(
  name: string,
  next: string,
  { quiet }: { quiet?: boolean },
): Promise<void> {
  const problem = problemOfName(next);
  if (problem !== null) throw new UsageError(problem);
  if (name === next) throw new UsageError(`it is called ${name} already`);
  await assertFound(name);
  const written = await changeCliFile(process.env, (document, present) => {
    if (!serversOf(present).some((server) => server.name === name)) {
      throw new NotFoundError(describeUnknown(present, name, '`snitch server rename`'));
    }
    assertNew(present, next);
    const wasDefault = defaultOf(present) === name;
    if (!isMap(document.get('servers'))) document.set('servers', new YAMLMap());
    const servers = document.get('servers');
    if (name === UNNAMED) {
      const lines = OWN_LINES.filter((line) => document.has(line));
      const moved = Object.fromEntries(lines.map((line) => [line, String(document.get(line) ?? '')]));
      document.setIn(['servers', next], document.createNode(moved));
      const above = commentAbove(document);
      for (const line of lines) document.delete(line);
      if (above !== null && !document.commentBefore) document.commentBefore = above;
    } else if (isMap(servers)) {
      const pair = servers.items.find(({ key }) => isScalar(key) && String(key.value) === name);
      if (pair && isScalar(pair.key)) pair.key.value = next;
    }
    if (wasDefault) document.set('server', next);
  });
  warnOfReaders(written);
  if (quiet) return;
  say(`${name} is now called ${next} in ${written.path}`);
  say(`whatever names it by --server ${name} or SNITCH_SERVER=${name}, such as a crontab, must be changed`);
  tellDefault(written);
}

/** A comment above the first line belongs to the file, and does not move with that line. */
function commentAbove({ contents }: Document): string | null {
  const [first] = isMap(contents) ? contents.items : [];
  return first && isScalar(first.key) ? (first.key.commentBefore ?? null) : null;
}

/** Check-ins that wait under the old name find their server by its address, unless another server has the same one. */
async function assertFound(name: string): Promise<void> {
  const all = serversOf(readCli(process.env));
  const url = all.find((server) => server.name === name)?.url ?? '';
  const twin = all.find((server) => server.name !== name && url !== '' && sameServer(server.url, url));
  const kept = twin ? await countKept(name, url) : 0;
  if (kept === 0 || !twin) return;
  const what = countOf(kept, 'check-in', 'check-ins');
  throw new Failure(
    `nothing was changed: ${what} for ${name} in the spool would not be found any more, because ${twin.name} has the same address\nsend them first: \`snitch spool flush\``,
  );
}
