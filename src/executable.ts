/**
 * The entry point of the single executable. Its modules are inside it, while Node's loader looks for modules on
 * disk. The hooks here supply the embedded modules, under URLs in a directory that does not exist.
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

// The executable's own `import()` knows only Node's modules, but a script may use the default loader.
const load = new Script('(url) => import(url)', {
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
}).runInThisContext() as (url: string) => Promise<unknown>;

await load(`${ROOT}snitch.mjs`);
