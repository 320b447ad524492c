/**
 * Where the single executable begins. Its modules are inside it, and Node's loader looks for modules on the disk:
 * this answers for those that the executable holds, under addresses of a directory that does not exist.
 */
import { registerHooks } from 'node:module';
import { getAsset, getAssetKeys } from 'node:sea';
import { constants, Script } from 'node:vm';

const ROOT = 'file:///snitch-executable/';
const MODULES: ReadonlySet<string> = new Set(
  getAssetKeys()
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => `${ROOT}${name}`),
);

registerHooks({
  resolve: (specifier, context, next) => {
    const url = URL.parse(specifier, context.parentURL)?.href ?? '';
    return MODULES.has(url) ? { url, format: 'module', shortCircuit: true } : next(specifier, context);
  },
  load: (url, context, next) =>
    MODULES.has(url)
      ? { format: 'module', source: getAsset(url.slice(ROOT.length), 'utf8'), shortCircuit: true }
      : next(url, context),
});

// The executable's own `import()` knows nothing but Node's modules; a script may ask for the whole loader.
const load = new Script('(url) => import(url)', {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext() as (url: string) => Promise<unknown>;

await load(`${ROOT}snitch.mjs`);
