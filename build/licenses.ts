/** Collects the licences of everything in the program: of the packages in its bundles, and of Node itself. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const RULE = '='.repeat(78);

/**
 * @param root the project's directory
 * @param inputs the files that the bundles were made from, relative to it
 * @throws Error if a package does not name its licence
 */
export function collectLicenses(root: string, inputs: readonly string[]): string {
  const directories = new Set(inputs.map(packageDirectory).filter((directory) => directory !== null));
  const packages = [...directories].map((directory) => describePackage(join(root, directory)));
  packages.sort((one, other) => (one.title < other.title ? -1 : 1));
  const own = { title: 'snitch', text: readFileSync(join(root, 'LICENSE'), 'utf8') };
  return [own, describeNode(root), ...packages]
    .map(({ title, text }) => `${RULE}\n${title}\n${RULE}\n\n${text.trim()}\n`)
    .join('\n');
}

/** `node_modules/a/node_modules/@b/c/lib/x.js` belongs to the innermost package, `@b/c`. */
function packageDirectory(input: string): string | null {
  return /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? null;
}

interface Described {
  title: string;
  text: string;
}

function describePackage(directory: string): Described {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const files = readdirSync(directory)
    .filter((file) => LICENSE_FILE.test(file))
    .sort();
  if (files.length === 0 && !license) throw new Error(`${name} ${version} names no licence`);
  const texts = files.map((file) => readFileSync(join(directory, file), 'utf8'));
  return {
    title: `${name} ${version} (${license ?? 'see below'})`,
    text: texts.join('\n') || `Licence: ${license}`,
  };
}

/** The npm package of Node does not contain its licence. Our copy of the text is valid for one major version. */
function describeNode(root: string): Described {
  const [major] = process.versions.node.split('.');
  const file = join(root, `packaging/licenses/node-${major}.txt`);
  if (!existsSync(file))
    throw new Error(`${file} is missing: take it from the release of Node ${process.versions.node}`);
  return { title: `Node.js ${process.versions.node} and its parts`, text: readFileSync(file, 'utf8') };
}
