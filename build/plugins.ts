/** What makes the main bundle small and quick to start; every command pays for it. */
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/**
 * An `import` of one of Node's modules evaluates every export of it, those that it would load only when asked for
 * included: with `node:http` comes a second HTTP client, with `node:util` a parser of MIME types. Here each name that
 * is really used is read from the module alone.
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
  // The argument parser can start other programs, which we never ask for: the module loads when it is first used.
  const whole = path === 'node:child_process' ? `new Proxy({}, { get: (_, name) => ${read}[name] })` : read;
  return [`export default /* @__PURE__ */ (() => ${whole})();`, ...named].join('\n');
}

/**
 * Leaves what is imported by a call (`import('./daemon.ts')`) out of the bundle, to be built on its own.
 *
 * @param entries is filled: name of the bundle → its source
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
