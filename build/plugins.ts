/** Makes the main bundle small and quick to start, because every command has to load it. */
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/**
 * An `import` of one of Node's modules evaluates all its exports, even those that it would load only on first use:
 * `node:http` brings a second HTTP client, and `node:util` a parser of MIME types. Here only the names that are used
 * are read from the module.
 */
export const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  setup(builder) {
    builder.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'lean-builtin' } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'lean-builtin' }, ({ path }) => ({
      contents: leanModule(path),
    }));
  },
};

function leanModule(path: string): string {
  const names = Object.keys(require(path)).filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default',
  );
  const read = `process.getBuiltinModule(${JSON.stringify(path)})`;
  const named = names.map((name, index) => {
    const local = `name${index}`;
    return `const ${local} = /* @__PURE__ */ (() => ${read}[${JSON.stringify(name)}])();\nexport { ${local} as ${name} };`;
  });
  // The argument parser can start other programs, which we never do, so this module is loaded only on first use.
  const whole = path === 'node:child_process' ? `new Proxy({}, { get: (_, name) => ${read}[name] })` : read;
  return [`export default /* @__PURE__ */ (() => ${whole})();`, ...named].join('\n');
}

/**
 * Leaves dynamic imports (`import('./daemon.ts')`) out of the bundle, so that they can be built separately.
 *
 * @param entries is filled with the source of each such bundle, by its name
 */
export function loadedWhenCalled(entries: Record<string, string>): Plugin {
  return {
    name: 'loaded-when-called',
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (kind !== 'dynamic-import' || pluginData === 'resolved') return undefined;
        const resolved = await builder.resolve(path, { kind, resolveDir, pluginData: 'resolved' });
        if (resolved.errors.length > 0) return resolved;
        const name = basename(path).replace(/\.[a-z]+$/, '');
        if (entries[name] !== undefined && entries[name] !== resolved.path) {
          return { errors: [{ text: `two modules that are loaded when called have the name ${name}` }] };
        }
        entries[name] = resolved.path;
        return { path: `./${name}.mjs`, external: true };
      });
    },
  };
}
