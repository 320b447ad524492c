/** Leaves out of the bundles what packages contain but we never use: an idle daemon would hold it in memory. */

import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Plugin } from 'esbuild';

const require = createRequire(import.meta.url);

/** Files of packages for features that are not used, and what replaces them. */
const UNUSED: readonly [RegExp, string][] = [
  // The widths of all characters in the fonts of other kinds of badges.
  [/[\\/]anafanafo[\\/]data[\\/](verdana-10px|helvetica)-[\w-]+\.json$/, 'module.exports = [[0, 0, 0]];'],
  // Error messages in forty languages.
  [/[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/, 'export {};'],
  // Metrics of several processes, and metrics that are pushed instead of collected.
  [/[\\/]prom-client[\\/]lib[\\/](cluster|pushgateway)\.js$/, 'module.exports = undefined;'],
  // Compares versions for plugins of the HTTP framework that name the versions they need. Ours are parts of the program.
  [/[\\/]semver[\\/]index\.js$/, 'module.exports = {};'],
  // Whether the patterns in paths take too long on some input. They are our own, and the tests run with the check.
  [/[\\/]safe-regex2[\\/]index\.js$/, 'module.exports = () => true;'],
];

/**
 * Packages that only run when something they export is first called. Their code is still in the bundle, and so in
 * memory: nothing is read from a file that an upgrade may have replaced meanwhile.
 */
const LATE: Readonly<Record<string, { functions: string[]; classes: string[]; code: string }>> = {
  nodemailer: {
    functions: ['createTransport'],
    classes: [],
    code: `module.exports = require('nodemailer');`,
  },
  undici: {
    functions: ['buildConnector', 'fetch'],
    classes: ['Agent'],
    // As in the package's own index.js, without the rest of it.
    code: `const Dispatcher = require('undici/lib/dispatcher/dispatcher');
      Object.assign(Dispatcher.prototype, require('undici/lib/api'));
      exports.Agent = require('undici/lib/dispatcher/agent');
      exports.buildConnector = require('undici/lib/core/connect');
      exports.fetch = (...values) => require('undici/lib/web/fetch').fetch(...values);`,
  },
};

/** The HTTP framework loads Node's HTTP/2 even if it is not asked for it, which takes a twentieth of a start. */
const FRAMEWORK_SERVER = /[\\/]fastify[\\/]lib[\\/]server\.js$/;

export const leanPackages: Plugin = {
  name: 'lean-packages',
  setup(builder) {
    for (const [filter, contents] of UNUSED) builder.onLoad({ filter }, () => ({ contents }));
    builder.onResolve({ filter: /^node:http2$/ }, ({ path, importer }) =>
      FRAMEWORK_SERVER.test(importer) ? { path, namespace: 'unused' } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({
      contents: 'module.exports = undefined;',
    }));
    builder.onResolve({ filter: /^(nodemailer|undici)$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'late' } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
      contents: lateModule(path),
      resolveDir: dirname(require.resolve('esbuild')),
    }));
    builder.onResolve({ filter: /^late:/ }, ({ path }) => ({
      path: path.slice('late:'.length),
      namespace: 'whole',
    }));
    builder.onLoad({ filter: /.*/, namespace: 'whole' }, ({ path }) => ({
      contents: LATE[path]?.code ?? '',
      resolveDir: dirname(require.resolve('esbuild')),
    }));
  },
};

function lateModule(name: string): string {
  const { functions = [], classes = [] } = LATE[name] ?? {};
  const whole = `require(${JSON.stringify(`late:${name}`)})`;
  return [
    ...functions.map((one) => `export const ${one} = (...values) => ${whole}.${one}(...values);`),
    ...classes.map(
      (one) =>
        `export const ${one} = new Proxy(class {}, { construct: (_, values) => new (${whole}.${one})(...values) });`,
    ),
  ].join('\n');
}
